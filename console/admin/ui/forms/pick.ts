/** An object with these properties only. */
export function pick<T extends object, Name extends keyof T>(of: T, ...names: readonly Name[]): Pick<T, Name> {
  return Object.fromEntries(names.map((name) => [name, of[name]])) as Pick<T, Name>;
}
