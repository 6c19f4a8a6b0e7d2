import { join } from 'node:path'

/** The public traces lie beside the checkout, whether this runs from source or from `dist`. */
export const sharedFile = (path: string): string => join(process.cwd(), '../shared/data', path)
