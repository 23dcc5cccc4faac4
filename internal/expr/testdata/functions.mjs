// Writes functions.txt and edges.txt again with what DuckDB gives: make functions-duckdb.
//
// A line of functions.txt is an expression, its type and its value, between tabs; a value that
// gagg gives instead stands behind it. Of edges.txt a line that begins with @ has the values of an
// axis; another one a template, whose places $0, $1, … take the values of the axes behind it. The
// answers stand below it, each line those along the last axis.
import { createRequire } from 'node:module';
import fs from 'node:fs';

const { DuckDBInstance } = createRequire(new URL('../../../bench/peers/package.json', import.meta.url))('@duckdb/node-api');
const instance = await DuckDBInstance.create(':memory:');
const duckdb = await instance.connect();
await duckdb.run("set timezone = 'UTC'");

// ask gives type and value of an expression; the value of NULL is null, the type of an error ERROR.
async function ask(expression) {
  try {
    const rows = await duckdb.runAndReadAll(`select typeof(x), x::varchar from (select ${expression} as x)`);
    return rows.getRows()[0];
  } catch (e) {
    return ['ERROR', e.message.split('\n')[0]];
  }
}

function linesOf(name) {
  return fs.readFileSync(new URL(name, import.meta.url), 'utf8').trimEnd().split('\n');
}

function write(name, lines) {
  fs.writeFileSync(new URL(name, import.meta.url), lines.join('\n') + '\n');
}

async function functions() {
  const lines = [];
  for (const line of linesOf('functions.txt')) {
    if (line === '' || line.startsWith('#')) {
      lines.push(line);
      continue;
    }
    const [expression, , , ...ours] = line.split('\t');
    const [type, value] = await ask(expression);
    lines.push([expression, type, value === null ? 'NULL' : JSON.stringify(value), ...ours].join('\t'));
  }
  write('functions.txt', lines);
}

// cell is an answer as edges.txt has it, behind one of type last.
function cell([type, value], last) {
  if (type === 'ERROR') return '!';
  const plain = value !== null && value !== 'NULL' && /^[^"\p{C}\t]*$/u.test(value);
  const text = value === null ? 'NULL' : plain ? value : JSON.stringify(value);
  return (type === last ? '' : type) + ':' + text;
}

async function edges() {
  const lines = [], axes = {};
  for (const line of linesOf('edges.txt')) {
    if (line.startsWith('\t')) continue; // answers
    lines.push(line);
    if (line === '' || line.startsWith('#')) continue;
    const fields = line.split('\t');
    if (line.startsWith('@')) {
      axes[fields[0].slice(1)] = fields.slice(1);
      continue;
    }
    const over = (fields[1] ?? '').split(' ').filter(Boolean).map((name) => axes[name]);
    let last = '';
    const answers = async (expression, place) => {
      if (place < over.length - 1) {
        for (const v of over[place]) await answers(expression.replaceAll('$' + place, () => v), place + 1);
        return;
      }
      const cells = [];
      for (const v of over[place] ?? ['']) {
        const answer = await ask(expression.replaceAll('$' + place, () => v));
        cells.push(cell(answer, last));
        if (answer[0] !== 'ERROR') last = answer[0];
      }
      lines.push('\t' + cells.join('\t'));
    };
    await answers(fields[0], 0);
  }
  write('edges.txt', lines);
}

await functions();
await edges();
