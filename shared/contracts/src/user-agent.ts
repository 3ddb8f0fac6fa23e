/** Names in a `User-Agent` header, for display; used by the server and the console. Guesses: a header can say anything. */

type Names = readonly (readonly [sign: RegExp, name: string])[];

const systems: Names = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/CrOS/, 'ChromeOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/Linux/, 'Linux'],
];
/** Order matters: most user agents also contain the names of other browsers. */
const browsers: Names = [
  [/Edg(e|A|iOS)?\//, 'Edge'],
  [/OPR\/|Opera/, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrom(e|ium)\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];

/** The names of browser and system, of this module alone; undefined: unknown. */
export function userAgentNames(userAgent: string): { browser: string | undefined; system: string | undefined } {
  const first = (names: Names) => names.find(([sign]) => sign.test(userAgent))?.[1];
  return { browser: first(browsers), system: first(systems) };
}
