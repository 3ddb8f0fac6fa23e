const systems: readonly (readonly [RegExp, string])[] = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/CrOS/, 'ChromeOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/Linux/, 'Linux'],
];
/** Order matters: most user agents also contain the names of other browsers. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/Edg(e|A|iOS)?\//, 'Edge'],
  [/OPR\/|Opera/, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrome\/|CriOS\/|Chromium\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];

/** A display name from the `User-Agent` header, e.g. `Firefox on Windows`. */
export function deviceName(userAgent: string | undefined): string {
  const [browser, system] = [browsers, systems].map((known) => known.find(([sign]) => sign.test(userAgent ?? ''))?.[1]);
  if (!browser) return system ?? 'Browser';
  return system ? `${browser} on ${system}` : browser;
}
