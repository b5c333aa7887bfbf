// What the page of own tables takes from here: a table of a file, and its profile.
import { profileOf } from './profile.mjs'
import { readTable } from './files.mjs'

globalThis.tableReader = { profileOf, readTable }
