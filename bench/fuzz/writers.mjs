// Writers of Parquet files that npm has, in one process: node writers.mjs
//
// Answers requests, one JSON object a line on stdin, with one JSON object a line on stdout:
//
//   {"writer": NAME, "from": PATH, "to": PATH, "rowGroup": ROWS, "page": BYTES, "codec": NAME,
//    "dictionary": BOOL, "statistics": BOOL, "v2": BOOL, "encoding": NAME}
//
// reads a Parquet file with the writer's own library and writes it anew: {}, or {"error": TEXT}. Without
// a writer: {"writers": [NAME...]}, those that are installed. The packages are those of bench/peers.
import fs from 'node:fs';
import readline from 'node:readline';
import { createRequire } from 'node:module';

const { resolve } = createRequire(new URL('../peers/', import.meta.url));

async function parquetWasm() {
  const w = await import(resolve('parquet-wasm'));
  const codecs = { none: 'UNCOMPRESSED', snappy: 'SNAPPY', gzip: 'GZIP', zstd: 'ZSTD', brotli: 'BROTLI', lz4: 'LZ4_RAW' };
  return (r) => {
    const table = w.readParquet(fs.readFileSync(r.from));
    let p = new w.WriterPropertiesBuilder()
      .setCompression(w.Compression[codecs[r.codec]])
      .setDictionaryEnabled(r.dictionary)
      .setMaxRowGroupSize(r.rowGroup)
      .setDataPageSizeLimit(r.page)
      .setWriterVersion(r.v2 ? w.WriterVersion.V2 : w.WriterVersion.V1)
      .setStatisticsEnabled(r.statistics ? w.EnabledStatistics.Page : w.EnabledStatistics.None);
    if (r.encoding) p = p.setEncoding(w.Encoding[r.encoding]);
    fs.writeFileSync(r.to, w.writeParquet(table, p.build()));
  };
}

// hyparquet knows JavaScript's values only: columns that these do not hold are left out.
async function hyparquet() {
  const { parquetRead, parquetMetadataAsync, parquetSchema, asyncBufferFromFile } = await import(resolve('hyparquet'));
  const { compressors } = await import(resolve('hyparquet-compressors'));
  const { parquetWriteBuffer } = await import(resolve('hyparquet-writer'));
  const typeOf = (e) => {
    const annotated = e.converted_type || e.logical_type?.type;
    if (annotated === 'UTF8' || annotated === 'STRING') return 'STRING';
    const plain = { INT_32: 'INT32', INT_64: 'INT64', TIMESTAMP_MILLIS: 'TIMESTAMP' }[e.converted_type];
    if (plain) return plain;
    return annotated ? undefined : { BOOLEAN: 'BOOLEAN', INT32: 'INT32', INT64: 'INT64', FLOAT: 'FLOAT', DOUBLE: 'DOUBLE' }[e.type];
  };
  return async (r) => {
    const file = await asyncBufferFromFile(r.from);
    const metadata = await parquetMetadataAsync(file);
    const kept = parquetSchema(metadata).children.map((c) => c.element).filter(typeOf);
    if (kept.length === 0) throw new Error('no column of a type that JavaScript has');
    const data = Object.fromEntries(kept.map((e) => [e.name, []]));
    await parquetRead({
      file, metadata, compressors, columns: kept.map((e) => e.name), rowFormat: 'object',
      onComplete: (rows) => rows.forEach((row) => kept.forEach((e) => data[e.name].push(row[e.name]))),
    });
    const columnData = kept.map((e) => ({ name: e.name, data: data[e.name], type: typeOf(e), nullable: true }));
    const buffer = parquetWriteBuffer({
      columnData, rowGroupSize: r.rowGroup, pageSize: r.page, statistics: r.statistics, codec: r.codec === 'none' ? 'UNCOMPRESSED' : 'SNAPPY',
    });
    fs.writeFileSync(r.to, Buffer.from(buffer));
  };
}

async function polars() {
  const { default: pl } = await import(resolve('nodejs-polars'));
  const codecs = { none: 'uncompressed', brotli: 'zstd' };
  return (r) => {
    const table = pl.readParquet(r.from);
    if (table.width === 0) throw new Error('no columns');
    table.writeParquet(r.to, { compression: codecs[r.codec] ?? r.codec, statistics: r.statistics, rowGroupSize: r.rowGroup });
  };
}

const writers = {};
for (const [name, open] of Object.entries({ 'parquet-wasm': parquetWasm, 'hyparquet-writer': hyparquet, 'nodejs-polars': polars })) {
  try {
    writers[name] = await open();
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') console.error(`writers: ${name}: ${error.message}`);
  }
}
for await (const line of readline.createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  let reply = {};
  try {
    if (request.writer) await writers[request.writer](request);
    else reply = { writers: Object.keys(writers) };
  } catch (error) {
    reply = { error: String(error.message ?? error).split('\n')[0] };
  }
  fs.writeSync(1, JSON.stringify(reply) + '\n');
}
