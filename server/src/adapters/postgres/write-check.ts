import type pg from 'pg';

/** Needs new pages on the disk, but no space after the statement: a temporary table that is emptied at commit. */
const text = `
  create temporary table if not exists latchkey_write_check (filler text) on commit delete rows;
  insert into pg_temp.latchkey_write_check select repeat('x', 1900) from generate_series(1, 64)`;

/** SQLSTATE: disk full, I/O error, read-only transaction. */
const faults: Partial<Record<string, string>> = {
  '53100': 'the disk is full',
  '58030': 'the disk cannot be written',
  '25006': 'the database is read-only',
};

/** The reason why the database accepts no writes; null if it accepts them, or if the error has another cause. */
export async function writeFaultIn(pool: pg.Pool): Promise<string | null> {
  try {
    await pool.query({ text });
    return null;
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    const fault = code === undefined ? undefined : faults[code];
    return fault === undefined ? null : `${fault}: ${message}`;
  }
}
