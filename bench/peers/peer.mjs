// One engine in one process: node peer.mjs ENGINE FILE THREADS [MEMORY TEMP]
//
// MEMORY and TEMP are DuckDB's memory limit and its folder for temporary files.
//
// Answers requests, one JSON object a line on stdin, with one JSON object a
// line on stdout:
//
//   {"run": SQL, "by": KEYS, "aggs": [[FUNCTION, COLUMN...]...]}
//                    runs a query and keeps its result in memory as r; the
//                    table is {table} in SQL    -> {"seconds": S, "cpu": of all threads}
//                    Polars takes the SQL where there are no aggs
//   {"run": SQL, "to": PATH}  DuckDB only: its result goes to a Parquet file;
//                    without a PATH ("none") it is made and dropped
//   {"write": PATH, "settings": SQL}  writes r as Parquet; ClickHouse with
//                    further settings            -> {}
//   {"query": SQL}   DuckDB only                 -> {"rows": [[...]]}
//   {"facts": true}  -> {"version": V, "peak": highest resident bytes}
//
// A request that fails is answered with {"error": TEXT}.
import fs from 'node:fs';
import readline from 'node:readline';

const [engine, file, threads, memory, temp] = process.argv.slice(2);
const quoted = (text) => `'${text.replaceAll("'", "''")}'`;

async function duckdb() {
  const { DuckDBInstance, version } = await import('@duckdb/node-api');
  const db = await DuckDBInstance.create(':memory:', { threads });
  const connection = await db.connect();
  if (memory) {
    // The order of the rows costs memory, and nobody asks for it.
    await connection.run('set preserve_insertion_order = false');
    await connection.run(`set temp_directory = ${quoted(temp)}`);
    if (memory !== 'default') await connection.run(`set memory_limit = ${quoted(memory)}`);
  }
  const into = (query, to) => {
    if (!to) return `create or replace temp table r as ${query}`;
    if (to === 'none') return `explain analyze ${query}`; // drops the result, faster than streaming it here
    return `copy (${query}) to ${quoted(to)} (format parquet)`;
  };
  return {
    version: version(),
    run: (sql, by, aggs, to) => connection.run(into(sql.replace('{table}', quoted(file)), to)),
    write: (path) => connection.run(`copy r to ${quoted(path)} (format parquet)`),
    query: async (sql) => (await connection.runAndReadAll(sql)).getRowsJson(),
  };
}

async function clickhouse() {
  const { Session } = await import('chdb');
  const session = new Session();
  const query = (sql, more) =>
    session.query(`${sql} settings max_threads = ${threads}, engine_file_truncate_on_insert = 1${more ? `, ${more}` : ''}`);
  return {
    version: session.query('select version()').trim().replaceAll('"', ''),
    run: async (sql) => {
      session.query('drop table if exists r');
      query(`create table r engine = Memory as ${sql.replace('{table}', `file(${quoted(file)}, Parquet)`)}`);
    },
    write: async (path, settings) => query(`insert into function file(${quoted(path)}, Parquet) select * from r`, settings),
    close: () => session.close(),
  };
}

// The number of threads comes from POLARS_MAX_THREADS. Its SQL takes more than
// twice the time of its expressions, so these are what runs.
async function polars() {
  const { default: pl } = await import('nodejs-polars');
  const functions = {
    sum: (x) => pl.col(x).sum(),
    avg: (x) => pl.col(x).mean(),
    range: (x, y) => pl.col(x).max().sub(pl.col(y).min()),
    corr: (x, y) => pl.pearsonCorr(x, y),
    count: () => pl.len(),
    median: (x) => pl.col(x).median(),
    stddev: (x) => pl.col(x).std(),
    largest: (x) => pl.col(x).sort({ descending: true }).head(2),
  };
  let r;
  return {
    version: pl.version,
    run: async (sql, by, aggs) => {
      if (!aggs) {
        const tables = new pl.SQLContext({ asked: pl.scanParquet(file) });
        const frame = tables.execute(sql.replace('{table}', 'asked'), { eager: false });
        if (!pl.LazyDataFrame.isLazyDataFrame(frame)) throw new Error("its SQL lacks a function of the question's");
        r = await frame.collect();
        return;
      }
      const terms = aggs.map(([name, ...columns], i) => functions[name](...columns).as(`a${i}`));
      r = await pl.scanParquet(file).groupBy(by).agg(...terms).collect();
    },
    write: async (path) => r.writeParquet(path),
  };
}

function peakBytes() {
  const status = fs.readFileSync('/proc/self/status', 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)[1]) * 1024;
}

async function answer(peer, request) {
  if (request.run) {
    const start = performance.now();
    const before = process.cpuUsage();
    await peer.run(request.run, request.by, request.aggs, request.to);
    const { user, system } = process.cpuUsage(before);
    return { seconds: (performance.now() - start) / 1000, cpu: (user + system) / 1e6 };
  }
  if (request.write) {
    await peer.write(request.write, request.settings);
    return {};
  }
  if (request.query) {
    return { rows: await peer.query(request.query) };
  }
  return { version: peer.version, peak: peakBytes() };
}

const peer = await { duckdb, clickhouse, polars }[engine]();
for await (const line of readline.createInterface({ input: process.stdin })) {
  let reply;
  try {
    reply = await answer(peer, JSON.parse(line));
  } catch (error) {
    reply = { error: String(error.message ?? error).split('\n')[0] };
  }
  fs.writeSync(1, JSON.stringify(reply) + '\n');
}
peer.close?.();
