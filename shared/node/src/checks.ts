/** The rule that a value breaks, after the option's name; null: none. */
type Rule = (value: unknown) => string | null;

export const wholeNumber =
  (least: number, most: number): Rule =>
  (value) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most
      ? null
      : `must be a whole number from ${least} to ${most}`;

/** Text such as "false" from an environment variable would count as true. */
export const flag: Rule = (value) => (typeof value === 'boolean' ? null : 'must be true or false');

export const callback: Rule = (value) => (typeof value === 'function' ? null : 'must be a function');

/** A polyfill's signal cannot be combined with a timeout. */
export const abortSignal: Rule = (value) => (value instanceof AbortSignal ? null : 'must be an AbortSignal');

export const text: Rule = (value) => (typeof value === 'string' && value !== '' ? null : 'must not be empty');

/** An object with these methods. */
export const having =
  (...methods: string[]): Rule =>
  (value) =>
    methods.every((method) => typeof Object(value)[method] === 'function')
      ? null
      : `must have the method${methods.length > 1 ? 's' : ''} ${methods.join(' and ')}`;

export const timeout: Rule = wholeNumber(1, 600_000);

/** The first broken rule, as a sentence; null: none. An option that is undefined or null is absent. */
export function brokenRule(options: object, rules: Readonly<Record<string, Rule>>): string | null {
  const values: Readonly<Record<string, unknown>> = { ...options };
  for (const [name, rule] of Object.entries(rules)) {
    const broken = values[name] == null ? null : rule(values[name]);
    if (broken !== null) return `${name} ${broken}.`;
  }
  return null;
}
