import { join } from 'node:path'
import { Journal as LineJournal } from '../../../infra/file/journal.ts'
import type { Deed, JobsPicture } from './pretended-jobs.ts'

/** `picture` stands for all lines before it. */
export type JournalLine = { readonly deed: Deed } | { readonly told: string } | { readonly picture: JobsPicture }

/** Where an adapter keeps what it did, and what it finds there when it starts. */
export interface KeptJournal {
  /** Resolves when the line is kept and has been followed. Rejects when it cannot be kept. */
  readonly append: (line: JournalLine) => Promise<void>
  readonly close: () => Promise<void>
}

/**
 * @param follow  told of each line in order: those that are there, and later each that is kept
 * @param picture what counts of all lines that were followed
 */
export type OpenJournal = (follow: (line: JournalLine) => void, picture: () => JobsPicture) => Promise<KeptJournal>

/** In a file of a folder; both are made where there is none. */
export const Journal = {
  /** @throws what the file system refuses, or why a line cannot be read */
  open: (folder: string, ...[follow, picture]: Parameters<OpenJournal>): Promise<KeptJournal> =>
    LineJournal.open<JournalLine>(join(folder, 'journal.ndjson'), {
      follow,
      picture: () => ({ picture: picture() }),
      forgets: 'what the pretended jobs were doing',
    }),
}
