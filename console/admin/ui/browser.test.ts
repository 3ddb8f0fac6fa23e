import { expect, it } from 'vitest';
import { browserName } from './browser.tsx';

it.each([
  ['Chrome on Windows', 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36'],
  ['Safari on iPhone', 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Mobile Safari/604.1'],
  ['Firefox', 'Firefox/140.0'],
  ['curl', 'curl/8.5.0'],
  ['Linux', 'Mozilla/5.0 (X11; Linux x86_64)'],
  ['an unknown browser', 'Mozilla/5.0 (compatible)'],
  ['an unknown browser', ''],
  ['an unknown browser', null],
])('the console shows %s for %s', (name, userAgent) => {
  expect(browserName(userAgent)).toBe(name);
});
