import { p } from '@mikro-orm/core';

/** A point in time to the microsecond, with its zone resolved. */
export const instant = () => p.datetime().columnType('timestamptz');
/** The key of every row: UUIDv7 from {@link Random.id}. */
export const key = () => p.uuid().primary();
