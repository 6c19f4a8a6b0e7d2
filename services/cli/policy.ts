import { either as E } from 'fp-ts'
import { decodePolicy, encodePolicy } from '../../domain/policy/allocation-policy.codec.ts'
import { readDocumentFile } from '../../infra/yaml/document.ts'
import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { orderer } from './orderer.ts'
import { printOrdered } from './ordered.ts'
import { registerPolicyCheck } from './policy-check.ts'
import { registerPolicyShow } from './policy-show.ts'
import type { Register } from './program.ts'
import { verb } from './session.ts'
import { fileFailed } from './trace-options.ts'

/** Registers `policy check`, `policy show` and `policy activate`. */
export const registerPolicy: Register = (program, context) => {
  const policy = program.command('policy').description('the document that binds decisions (docs/policy.md)')
  registerPolicyCheck(policy, context)
  registerPolicyShow(policy, context)
  policy
    .command('activate')
    .argument('<file>', 'an AllocationPolicy document, YAML or JSON; - for the standard input')
    .description('decide under this policy from now on')
    .option('--reason <text>', 'why; it is recorded')
    .addHelpText(
      'after',
      '\nExceptions that were granted hold on until their date or until `leasehold exception revoke`.\n' +
        'What will surprise is told as `leasehold policy check` does, and does not stand in the way.\n\n' +
        'Examples:\n  leasehold policy activate docs/examples/policy.yaml',
    )
    .action(
      verb(context, async (session, file: string, { reason }: { reason?: string }) => {
        const read = await readDocumentFile(file, decodePolicy)()
        if (E.isLeft(read)) throw fileFailed(read.left)
        return withDesk(session, { claims: 'policy activate' }, async (desk) => {
          const ordered = await fromDesk(desk.activatePolicy(encodePolicy(read.right), orderer(reason)))
          const said = `policy ${read.right.name} is in force`
          const code = await printOrdered(session, { policy: read.right.name, ...ordered } as never, said)
          for (const { mend, path, reason } of ordered.warnings) session.note(`warning: ${path}: ${reason}; ${mend}`)
          for (const { expires, name, owner } of ordered.kept)
            session.note(`Exception ${name}, which was granted, holds on until ${expires}; ${owner} answers for it.`)
          return code
        })
      }),
    )
}
