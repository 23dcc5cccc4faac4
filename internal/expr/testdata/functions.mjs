// Writes functions.txt again with what DuckDB gives:
//
//   npm install --prefix bench/peers
//   NODE_PATH=bench/peers/node_modules node internal/expr/testdata/functions.mjs
//
// A line is an expression, its type and its value, between tabs; a value that
// gagg gives instead stands behind it and says why in docs/semantics.md.
import { createRequire } from 'node:module';
import fs from 'node:fs';

const { DuckDBInstance } = createRequire(process.env.NODE_PATH + '/')('@duckdb/node-api');
const file = new URL('functions.txt', import.meta.url);
const duckdb = await (await DuckDBInstance.create(':memory:')).connect();
await duckdb.run("set timezone = 'UTC'");

const lines = [];
for (const line of fs.readFileSync(file, 'utf8').trimEnd().split('\n')) {
  if (line === '' || line.startsWith('#')) {
    lines.push(line);
    continue;
  }
  const [expression, , , ...ours] = line.split('\t');
  let given;
  try {
    const rows = await duckdb.runAndReadAll(`select typeof(x), x::varchar from (select ${expression} as x)`);
    const [type, value] = rows.getRows()[0];
    given = [type, value === null ? 'NULL' : JSON.stringify(value)];
  } catch (e) {
    given = ['ERROR', JSON.stringify(e.message.split('\n')[0])];
  }
  lines.push([expression, ...given, ...ours].join('\t'));
}
fs.writeFileSync(file, lines.join('\n') + '\n');
