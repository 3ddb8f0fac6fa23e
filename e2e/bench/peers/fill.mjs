/** Fills a peer's tables with copies of the first row that it wrote, because ten thousand POSTs would take minutes. */

/** SCIM user number `at`. */
export function userAt(at) {
  const userName = `user-${String(at).padStart(6, '0')}@example.com`;
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName,
    externalId: `ext-${at}`,
    displayName: `User ${at}`,
    name: { givenName: 'User', familyName: `Number ${at}` },
    title: 'Engineer',
    locale: 'en-US',
    emails: [{ value: userName, type: 'work', primary: true }],
    active: true,
  };
}

/**
 * @param pool of `pg`
 * @param rowsAt columns per table that differ from `first`'s rows, for a user number
 */
export async function fill(pool, first, population, rowsAt) {
  const atOnce = 2000;
  for (let from = 1; from < population; from += atOnce) {
    const numbers = Array.from({ length: Math.min(atOnce, population - from) }, (_, index) => from + index);
    const made = numbers.map(rowsAt);
    for (const table of Object.keys(first)) {
      const rows = made.flatMap((one) => one[table].map((row) => ({ ...first[table], ...row })));
      const columns = Object.keys(first[table])
        .map((name) => `"${name}"`)
        .join(', ');
      await pool.query(
        `insert into "${table}" (${columns}) select ${columns} from jsonb_populate_recordset(null::"${table}", $1)`,
        [JSON.stringify(rows)],
      );
    }
  }
  for (const table of Object.keys(first)) await pool.query(`vacuum analyze "${table}"`);
}
