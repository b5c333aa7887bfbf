// Prints the array of a Zarr group in canonical form, as zarrita reads it.
import { FileSystemStore } from '@zarrita/storage'
import * as zarr from 'zarrita'
import { arrayTable, fact, main, numbers } from './canonical.mjs'

const edges = list => ['list<int64>', list.map(String)]

await main(async path => {
  const root = zarr.root(new FileSystemStore(path))
  // FormatBench's groups have the names of the array and of its coordinates.
  const names = (await zarr.open(root, { kind: 'group' })).attrs['format_bench.array']
  const array = await zarr.open(root.resolve(names.name), { kind: 'array' })
  const { shape, chunks } = array
  const { _ARRAY_DIMENSIONS: ofFormat2, ...attributes } = array.attrs ?? {}
  const facts = { name: fact(names.name), shape: edges(shape), values: await valuesOf(array) }
  facts.chunks = edges(shape.map((edge, axis) => Math.min(chunks[axis], Math.max(1, edge))))
  facts.dims = ['list<utf8>', array.dimensionNames ?? ofFormat2 ?? []]
  for (const [key, value] of Object.entries(attributes)) facts[`attribute ${key}`] = fact(value)
  for (const dim of names.coordinates) {
    const line = await zarr.open(root.resolve(dim), { kind: 'array' })
    facts[`coordinate ${dim}`] = await valuesOf(line)
    const { _ARRAY_DIMENSIONS: _, ...own } = line.attrs ?? {}
    for (const [key, value] of Object.entries(own)) facts[`attribute ${key} of coordinate ${dim}`] = fact(value)
  }
  return arrayTable(facts)
})

async function valuesOf(array) {
  const found = await zarr.get(array)
  // An array without dimensions comes as its value, and booleans in a class of zarrita's.
  return numbers(array.shape.length ? (array.dtype === 'bool' ? [...found.data] : found.data) : [found])
}
