import { either as E } from 'fp-ts'
import type { QueryRefused } from '../../domain/ports/views.ts'
import { refused } from './fault.ts'
import { placeOf, tokensOf, type SqlToken } from './sql-tokens.ts'

/*
 * What people may ask. The engine refuses to write by itself, where it is told `readonly`; it would still run several
 * statements, write into files, read files by `file()` and ask hosts by `s3()`, and tell about the host. That is
 * refused here, by the names in the text: no name can be put together at run time.
 */

const firstWords = ['select', 'with', 'explain', 'describe', 'desc', 'show']
const shown = ['tables', 'columns', 'create', 'full', 'fields']

/** Reads of the views' own database and these say nothing about the host. */
const systemTables = ['one', 'numbers', 'columns', 'functions', 'table_functions', 'data_type_families']

/** Table functions that make up their rows. `format` is refused by the engine, and is a plain function too. */
const harmless = new Set(
  'numbers numbers_mt zeros zeros_mt values sqlstandardvalues generateseries generate_series view null primes format'.split(
    ' ',
  ),
)

/** Table functions that read files, hosts or other tables; whatever else the engine has is added to them. */
const reaching = new Set(
  (
    'arrowstream azureblobstorage azureblobstoragecluster cluster clusterallreplicas cosn deltalake deltalakecluster ' +
    'dictionary eval executable file filecluster filesystem gcs hdfs hdfscluster hudi hudicluster iceberg icebergcluster ' +
    'input jdbc loop merge mergetreeindex mergetreeprojection mongodb mysql odbc oss postgresql redis remote ' +
    'remotesecure s3 s3cluster sqlite url urlcluster viewexplain viewifpermitted ytsaurus'
  ).split(' '),
)

/** Functions that read files, call out or tell about the host: refused wherever their name stands, as it need not be called. */
const forbidden = new Set(
  (
    'file hostname fullhostname fqdn serveruuid tcpport getserverport getserversetting getmacro displayname buildid ' +
    'filesystemavailable filesystemcapacity filesystemunreserved getoskernelversion showcertificate catboostevaluate ' +
    'addresstoline addresstolinewithinlines addresstosymbol demangle logtrace zookeepersessionuptime ' +
    'getclienthttpheader aiclassify aiextract aigenerate aitranslate aiembed naivebayesclassifier'
  ).split(' '),
)

const writes = new Set(
  (
    'alter attach backup begin call check commit copy create delete detach drop exchange execute exists grant insert kill ' +
    'load merge move optimize parallel rename replace restore revoke rollback set snapshot start stop system truncate ' +
    'undrop unload unset update use watch'
  ).split(' '),
)

const where = 'docs/views.md has the views, `DESCRIBE workloads` the columns of one'
const mend =
  'ask with SELECT alone, of the views alone: docs/views.md has them, `DESCRIBE workloads` the columns of one'

/**
 * The one statement of that text, without what closes it, if it only reads, and only the views.
 * @param tableFunctions every table function that the engine has, in lower case
 */
export const readOnlyQuery = (
  sql: string,
  tableFunctions: ReadonlySet<string> = new Set(),
): E.Either<QueryRefused, string> => {
  const read = tokensOf(sql)
  if (E.isLeft(read)) return E.left(refused('invalid', read.left, `correct the text at that place; ${where}`))
  const end = read.right.findIndex(isSign(';'))
  const tokens = end === -1 ? read.right : read.right.slice(0, end)
  const after = end === -1 ? undefined : read.right.slice(end).find((token) => !isSign(';')(token))
  const fault = (token: SqlToken, what: string) =>
    E.left(refused('read-only', `${placeOf(sql, token.at)}: ${what}`, mend))
  if (tokens.length === 0) return E.left(refused('invalid', 'there is no query', 'give one: SELECT ...'))
  if (after !== undefined) return fault(after, 'one statement at a time')
  const first = tokens.find((token) => !isSign('(')(token)) ?? tokens[0]!
  const isWord = first.kind === 'word'
  if (!isWord || (!firstWords.includes(lower(first)) && !writes.has(lower(first))))
    return E.left(
      refused('invalid', `${placeOf(sql, first.at)}: ${first.text} begins no query`, `write SELECT ...: ${where}`),
    )
  if (!firstWords.includes(lower(first))) return fault(first, `${first.text.toUpperCase()} does not read`)
  if (lower(first) === 'show' && !shown.includes(lower(tokens[1])))
    return fault(first, `SHOW ${tokens[1]?.text ?? ''} is not answered; SHOW TABLES, COLUMNS and CREATE are`)
  const last = tokens.at(-1)!
  if (tokens.length > 2 && isName(last) && lower(tokens.at(-2)) === 'format' && tokens.at(-2)!.kind === 'word')
    return E.left(
      refused('invalid', `${placeOf(sql, last.at)}: FORMAT is not taken`, 'leave it out; -o says the format'),
    )
  for (const [i, token] of tokens.entries()) {
    const what = isName(token) ? faultOfName(token, tokens, i, tableFunctions) : null
    if (what !== null) return fault(token, what)
  }
  return E.right(end === -1 ? sql : sql.slice(0, read.right[end]!.at))
}

const faultOfName = (
  token: SqlToken,
  tokens: ReadonlyArray<SqlToken>,
  i: number,
  tableFunctions: ReadonlySet<string>,
): string | null => {
  const name = lower(token)
  const next = tokens[i + 1]
  if (forbidden.has(name)) return `${token.text} reaches beyond the views`
  if (next !== undefined && isSign('(')(next) && !harmless.has(name))
    if (reaching.has(name) || tableFunctions.has(name)) return `${token.text}(...) reaches beyond the views`
  if (token.kind === 'word' && (name === 'into' || name === 'outfile' || name === 'infile'))
    return `${token.text.toUpperCase()} writes`
  if (name === 'identifier' && i > 0 && isSign(':')(tokens[i - 1]!)) return 'a parameter may not be a name'
  // The engine's own `default` lies over the files of the host.
  if (name === 'default' && next !== undefined && isSign('.')(next)) return 'default is no database of the views'
  if (name === 'system' && next !== undefined && isSign('.')(next) && !systemTables.includes(lower(tokens[i + 2])))
    return `system.${tokens[i + 2]?.text ?? ''} tells about the host; information_schema has tables and columns`
  return null
}

const isName = ({ kind }: SqlToken): boolean => kind === 'word' || kind === 'quoted'
const lower = (token: SqlToken | undefined): string => token?.text.toLowerCase() ?? ''
const isSign =
  (text: string) =>
  (token: SqlToken): boolean =>
    token.kind === 'sign' && token.text === text
