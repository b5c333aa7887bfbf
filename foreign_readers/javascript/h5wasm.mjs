// Prints the array of an HDF5 file in canonical form, as h5wasm reads it.
import h5wasm from 'h5wasm/node'
import { arrayTable, fact, float32, float64, listOf, main, numbers, structType } from './canonical.mjs'

const isScale = dataset => dataset.attrs.CLASS?.value === 'DIMENSION_SCALE'

const edges = list => ['list<int64>', list.map(String)]

const valuesOf = dataset => {
  const { value, metadata } = dataset
  // Complex numbers are compounds of two floats.
  if (metadata.compound_type) return compounds(value, metadata.compound_type.members)
  return numbers(ArrayBuffer.isView(value) || Array.isArray(value) ? value : [value])
}

function compounds(rows, members) {
  const fields = members.map(({ name, size }) => [name, ...(size === 4 ? float32 : float64)])
  const print = row => fields.map(([, , printOne], place) => printOne(row[place]))
  const [type, printAll] = listOf([structType(fields), print])
  return [type, printAll(rows)]
}

// The name of each dimension: its label, or that of its scale, as netCDF has it.
function dimsOf(dataset) {
  return dataset.get_dimension_labels().map((label, axis) => {
    const [scale] = label === null ? dataset.get_attached_scales(axis) : []
    return label ?? scale?.replace(/^\//, '') ?? ''
  })
}

await h5wasm.ready
await main(path => {
  const file = new h5wasm.File(path, 'r')
  const datasets = file.keys().map(name => [name, file.get(name)])
  const [name, array] = datasets.find(([, dataset]) => !isScale(dataset))
  const { shape } = array
  const facts = { name: fact(name), shape: edges(shape), values: valuesOf(array) }
  const chunks = array.metadata.chunks ?? shape
  facts.chunks = edges(shape.map((edge, axis) => Math.min(chunks[axis], Math.max(1, edge))))
  facts.dims = ['list<utf8>', dimsOf(array)]
  for (const [of, dataset] of datasets) {
    const after = dataset === array ? '' : ` of coordinate ${of}`
    if (after) facts[`coordinate ${of}`] = valuesOf(dataset)
    for (const [key, attribute] of Object.entries(dataset.attrs)) {
      facts[`attribute ${key}${after}`] = fact(attribute.value)
    }
  }
  file.close()
  return arrayTable(facts)
})
