import { t } from '../language/language.ts';

const systems: readonly (readonly [RegExp, string])[] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/CrOS/, 'ChromeOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/Linux/, 'Linux'],
];
/** Order matters: most user agents also contain the names of other browsers. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/Edg(e|A|iOS)?\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrom(e|ium)\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];

/** "Firefox on Windows", guessed from the user agent. */
export function browserName(userAgent: string | null | undefined): string {
  if (!userAgent) return t('an unknown browser');
  const named = (known: typeof systems) => known.find(([sign]) => sign.test(userAgent))?.[1];
  const browser = named(browsers) ?? String(userAgent.split(/[/ ]/)[0]);
  const system = named(systems);
  return system ? t('{browser} on {system}', { browser, system }) : browser;
}

/** The name of a browser, which opens to its `User-Agent` header. */
export function Browser({ userAgent }: { userAgent: string | null | undefined }) {
  if (!userAgent) return browserName(userAgent);
  return (
    <details>
      <summary>{browserName(userAgent)}</summary>
      <code style={{ overflowWrap: 'anywhere' }}>{userAgent}</code>
    </details>
  );
}
