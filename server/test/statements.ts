import pg from 'pg';

/** Records all statements that this process sends to PostgreSQL while `work` runs, except those of row security. */
export async function statementsDuring(work: () => Promise<void>): Promise<string[]> {
  const seen: string[] = [];
  const client = pg.Client.prototype as { query(...args: unknown[]): unknown };
  const { query } = client;
  client.query = function (...args) {
    const [asked] = args as [string | { text: string }];
    seen.push(
      (typeof asked === 'string' ? asked : asked.text).replace(/'(?:[^']|'')*'|\b(?:null|true|false)\b|\s+/g, (part) =>
        part.trim() === '' ? ' ' : '?',
      ),
    );
    return query.apply(this, args);
  };
  try {
    await work();
  } finally {
    client.query = query;
  }
  return seen.filter((text) => !/^(reset role|set role|set latchkey\.project)/.test(text));
}
