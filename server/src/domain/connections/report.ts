import type { GuideField } from './guides.ts';

/** One line of the report on a test: a value of the answer, and what is expected. For admins; nothing of it is trusted. */
export interface ReportLine {
  /** As the protocol names it. */
  name: string;
  received: string;
  /** Absent: any value is right. */
  expected?: string;
  isWrong: boolean;
  /** The setting at the provider that determines the value. */
  field?: GuideField;
}

const maxLength = 500;

export function compared(
  name: string,
  received: string | undefined,
  expected: string,
  { field, isWrong }: { field?: GuideField; isWrong?: boolean } = {},
): ReportLine {
  const line = { name, received: shown(received), expected, isWrong: isWrong ?? received !== expected };
  return field ? { ...line, field } : line;
}

/** A value that can be anything. */
export function received(name: string, value: unknown): ReportLine {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { name: name.slice(0, 100), received: shown(text), isWrong: false };
}

function shown(value: string | undefined): string {
  if (value === undefined || value === '') return 'none';
  return value.length > maxLength ? `${value.slice(0, maxLength)}…` : value;
}
