/** Names in the environment that are not settings, but were probably meant to be. */

/** A setting that a misspelled name may have meant. */
export interface KnownName {
  name: string;
  /** Whether the environment sets it, directly or by its `_FILE` form. */
  isSet: boolean;
  /** Whether a text is a valid value of it. */
  accepts(text: string): boolean;
}

/** Names that look like settings, in one line each. */
export interface UnknownNames {
  /** Almost certainly misspelled: the start must stop. */
  refused: string[];
  /** Of the kind of our settings, but perhaps another program's. */
  warned: string[];
}

/** Used by many other programs, one letter from a setting. */
const foreign = new Set(['BASEURL', 'DATADIR', 'EMAIL_FROM', 'LOGLEVEL']);
/** Prefixes of our settings that other programs rarely use. */
const prefixes = /^(AUDIT|AUTHORIZE|BACKUP_S3|DANGER|DATABASE|LATCHKEY|MAIL|MASTER_KEY|SIGNIN|SMS|SMTP|TRUST(ED)?)_/;
/** Variables that Kubernetes and Docker set for each service: `SMTP_PORT=tcp://10.0.0.7:25`, `SMTP_SERVICE_HOST`. */
const isOfService = (name: string, value: string): boolean =>
  /^(tcp|udp|sctp):\/\//.test(value) ||
  /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_\w+)?$|_(NAME|ENV_\w+)$/.test(name);

/**
 * A name is refused if it differs from an unset setting by a letter (by two, if that is long) and its value could be the
 * setting's. So a name of another program stops the start only if we would otherwise ignore what was probably meant.
 */
export function unknownNames(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly KnownName[],
): UnknownNames {
  const found: UnknownNames = { refused: [], warned: [] };
  const names = new Set(known.map(({ name }) => name));
  for (const [name, value] of Object.entries(env)) {
    if (names.has(name) || !value || isOfService(name, value)) continue;
    const meant = nearest(name, known);
    if (meant && !meant.isSet && meant.accepts(value) && !foreign.has(name)) {
      found.refused.push(`${name} is not a setting: did you mean ${meant.name}?`);
    } else if (meant && !meant.isSet) {
      found.warned.push(`${name} is not a setting and is ignored: did you mean ${meant.name}?`);
    } else {
      const own = name.replace(/^LATCHKEY_/, '');
      if (own !== name && names.has(own)) {
        found.warned.push(`${name} is not a setting and is ignored: did you mean ${own}?`);
      } else if (own === name && prefixes.test(name) && !meant) {
        found.warned.push(`${name} is not a setting and is ignored`);
      }
    }
  }
  return found;
}

function nearest(name: string, known: readonly KnownName[]): KnownName | undefined {
  const text = name.toUpperCase();
  return known
    .map((one) => ({ one, distance: distanceOf(text, one.name, allowed(one.name)) }))
    .filter(({ one, distance }) => distance <= allowed(one.name))
    .sort((a, b) => a.distance - b.distance)[0]?.one;
}

/** Short names are common words: HOST, PORT. */
function allowed({ length }: string): number {
  if (length < 7) return -1;
  return length < 12 ? 1 : 2;
}

/** Insertions, deletions, replacements and swaps of neighbors that turn one text into the other; infinite above `limit`. */
function distanceOf(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return Number.POSITIVE_INFINITY;
  let [before, previous]: number[][] = [[], Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const choices = [Number(previous?.[j]) + 1, Number(row[j - 1]) + 1, Number(previous?.[j - 1]) + cost];
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) choices.push(Number(before?.[j - 2]) + 1);
      row.push(Math.min(...choices));
    }
    if (Math.min(...row) > limit) return Number.POSITIVE_INFINITY;
    [before, previous] = [previous, row];
  }
  return Number(previous?.[b.length]);
}
