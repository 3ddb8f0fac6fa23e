const form = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?$/i;

/**
 * An xsd:dateTime (RFC 7643 §2.3.5) in milliseconds since the Unix epoch, truncated; UTC if there is no zone. Undefined
 * for any other text.
 */
export function parseInstant(text: string): number | undefined {
  const match = form.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', zone = 'Z'] = match;
  const milliseconds = fraction.padEnd(3, '0').slice(0, 3);
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}.${milliseconds}${zone.toUpperCase()}`;
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return undefined;
  // Date.parse turns 30 February into 2 March.
  const sameDay = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
  return sameDay ? at : undefined;
}

/**
 * A text that {@link parseInstant} reads, in the form for comparison: in UTC with milliseconds. An instant beyond the
 * years 0 to 9999 is infinite, in byte order of such texts and in PostgreSQL.
 */
export function comparableInstant(text: string): string {
  const utc = new Date(parseInstant(text) ?? Number.NaN).toISOString();
  if (utc.startsWith('+')) return 'infinity';
  return utc.startsWith('-') ? '-infinity' : utc;
}
