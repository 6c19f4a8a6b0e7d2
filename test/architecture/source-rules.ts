import { builtinModules } from 'node:module'
import { basename, dirname, join, normalize } from 'node:path'
import ts from 'typescript'

export interface SourceFile {
  /** From the root of the repository, with forward slashes: `domain/fleet/fleet.ts`. */
  readonly path: string
  readonly text: string
}

const layers = ['domain', 'projections', 'infra', 'services'] as const
type Layer = (typeof layers)[number]
const mayImport: { readonly [L in Layer]: ReadonlyArray<Layer> } = {
  domain: ['domain'],
  projections: ['domain', 'projections'],
  infra: ['domain', 'infra'],
  services: ['domain', 'projections', 'infra', 'services'],
}
/** Anybody may use these; every other package is a vendor, and has one folder of infra to itself. */
const foundations = ['fp-ts', 'io-ts']
/** Packages of one vendor: an engine and its client. */
const vendorOf: { readonly [name: string]: string } = { chdb: '@clickhouse/client' }
/** Folders of infra that other adapters build on. */
const sharedInfra = ['infra/chain', 'infra/host']
/** Wires the others together: the only ones that may import another service. */
const compositionRoots = ['services/cli', 'services/system', 'services/main.ts']
const linesMax = 400
const emptyNames = /(^|[-_.])(utils?|common|helpers?|misc)([-_.]|$)/i

/** Everything in these sources that STYLE.md does not allow, as `file:line: what`. */
export const violations = (files: ReadonlyArray<SourceFile>): ReadonlyArray<string> => {
  const parsed = files.map((file) => ({ ...file, ...parse(file) }))
  return [
    ...parsed.flatMap((file) => [
      ...nameFaults(file.path),
      ...lengthFaults(file),
      ...file.imports.flatMap((each) =>
        importFaults(file.path, each.name).map((what) => `${file.path}:${each.line}: ${what}`),
      ),
      ...(isPure(file.path) ? file.impure.map(({ line, what }) => `${file.path}:${line}: ${what}`) : []),
    ]),
    ...vendorFaults(parsed),
  ]
}

interface Found {
  readonly imports: ReadonlyArray<{ readonly name: string; readonly line: number }>
  /** Uses of the clock, of chance, or of the process. */
  readonly impure: ReadonlyArray<{ readonly what: string; readonly line: number }>
}

const parse = ({ path, text }: SourceFile): Found => {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const imports: { name: string; line: number }[] = []
  const impure: { what: string; line: number }[] = []
  const lineOf = (node: ts.Node) => source.getLineAndCharacterOfPosition(node.getStart()).line + 1
  const visit = (node: ts.Node): void => {
    const named =
      ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
        ? node.moduleSpecifier
        : ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)
          ? node.argument.literal
          : ts.isCallExpression(node) &&
              (node.expression.kind === ts.SyntaxKind.ImportKeyword || node.expression.getText() === 'require')
            ? node.arguments[0]
            : undefined
    if (named !== undefined)
      imports.push({
        name: ts.isStringLiteralLike(named) ? named.text : `computed ${named.getText()}`,
        line: lineOf(node),
      })
    const what = impurity(node)
    if (what !== null) impure.push({ what, line: lineOf(node) })
    ts.forEachChild(node, visit)
  }
  visit(source)
  return { imports, impure }
}

const impurity = (node: ts.Node): string | null => {
  if (ts.isNewExpression(node) && node.expression.getText() === 'Date' && (node.arguments ?? []).length === 0)
    return 'new Date() reads the clock'
  if (ts.isCallExpression(node) && node.expression.getText() === 'Date') return 'Date() reads the clock'
  if (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) {
    const member = ts.isPropertyAccessExpression(node) ? node.name.text : node.argumentExpression.getText().slice(1, -1)
    const full = `${node.expression.getText()}.${member}`
    if (full === 'Date.now' || full === 'Math.random') return `${full} is neither pure nor data`
    if (/^(process|performance|crypto|globalThis)$/.test(node.expression.getText()))
      return `${full} reaches outside: only infra and services may`
  }
  if (
    ts.isCallExpression(node) &&
    /^(setTimeout|setInterval|setImmediate|fetch|queueMicrotask)$/.test(node.expression.getText())
  )
    return `${node.expression.getText()} reaches outside: only infra and services may`
  return null
}

const layerOf = (path: string): Layer | undefined => layers.find((layer) => path.startsWith(`${layer}/`))
const isPure = (path: string): boolean => ['domain', 'projections'].includes(layerOf(path) ?? '')
const folderOf = (path: string): string => path.split('/').slice(0, 2).join('/')
const isWithin = (path: string, places: ReadonlyArray<string>): boolean =>
  places.some((place) => path === place || path.startsWith(`${place}/`))

const importFaults = (from: string, name: string): ReadonlyArray<string> => {
  const layer = layerOf(from)
  if (name.startsWith('.')) return relativeFaults(from, name, layer)
  if (name.startsWith('computed ')) return layer === undefined ? [] : [`imports a name that is ${name}`]
  if (layer === undefined) return rootFaults(name)
  const bare = name.replace(/^node:/, '')
  if (builtinModules.includes(bare) || name.startsWith('node:')) {
    if (isPure(from)) return [`${layer} imports ${name}: it does no I/O`]
    return name.startsWith('node:') ? [] : [`imports ${name}: say node:${name}`]
  }
  if (isPure(from) && !foundations.includes(packageOf(name))) return [`${layer} imports the package ${name}`]
  return rootFaults(name)
}

const rootFaults = (name: string): ReadonlyArray<string> =>
  /^(fp-ts|io-ts)\//.test(name) ? [`imports ${name}: import ${packageOf(name)} from its root`] : []

const relativeFaults = (from: string, name: string, layer: Layer | undefined): ReadonlyArray<string> => {
  const faults =
    name.endsWith('.ts') || name.endsWith('.json') ? [] : [`imports ${name}: a relative import ends in .ts`]
  const to = normalize(join(dirname(from), name)).replaceAll('\\', '/')
  if (layer === undefined) return faults
  const target = layerOf(to)
  if (target === undefined || !mayImport[layer].includes(target)) return [...faults, `${layer} imports ${to}`]
  const crosses = folderOf(from) !== folderOf(to)
  if (
    layer === 'infra' &&
    crosses &&
    target === 'infra' &&
    !isWithin(to, sharedInfra) &&
    !isWithin(from, ['infra/host'])
  )
    return [...faults, `one adapter imports another: ${to}`]
  if (layer === 'services' && crosses && target === 'services' && !isWithin(from, compositionRoots))
    return [...faults, `one service imports another: ${to}; the log is the only road between them`]
  return faults
}

const packageOf = (name: string): string =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/')

const vendorFaults = (files: ReadonlyArray<SourceFile & Found>): ReadonlyArray<string> => {
  const vendors = new Map<string, Set<string>>()
  for (const { path, imports } of files) {
    if (layerOf(path) !== 'infra') continue
    const mine = vendors.get(folderOf(path)) ?? new Set()
    vendors.set(folderOf(path), mine)
    for (const { name } of imports)
      if (!name.startsWith('.') && !name.startsWith('node:') && !foundations.includes(packageOf(name)))
        mine.add(vendorOf[packageOf(name)] ?? packageOf(name))
  }
  return [...vendors]
    .filter(([, packages]) => packages.size > 1)
    .map(([folder, packages]) => `${folder}: two vendors in one folder: ${[...packages].sort().join(', ')}`)
}

const nameFaults = (path: string): ReadonlyArray<string> =>
  path
    .split('/')
    .filter((part) => emptyNames.test(part.replace(/\.ts$/, '')))
    .map((part) => `${path}: ${part} names nothing`)

const lengthFaults = ({ path, text }: SourceFile): ReadonlyArray<string> => {
  const lines = text.split('\n').length - 1
  return layerOf(path) !== undefined && lines > linesMax
    ? [`${path}: ${basename(path)} has ${lines} lines, more than ${linesMax}`]
    : []
}
