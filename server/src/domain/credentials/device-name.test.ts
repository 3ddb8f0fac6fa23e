import { expect, it } from 'vitest';
import { deviceName } from './device-name.ts';

const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';

it.each([
  ['Safari on iPhone', 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Mobile Safari/604.1'],
  ['Chrome on iPad', 'Mozilla/5.0 (iPad; CPU OS 19_0 like Mac OS X) CriOS/140.0 Mobile Safari/604.1'],
  ['Samsung Internet on Android', `Mozilla/5.0 (Linux; Android 16) ${webkit} SamsungBrowser/28 Chrome/130 Safari/537`],
  ['Chrome on ChromeOS', `Mozilla/5.0 (X11; CrOS x86_64 16000) ${webkit} Chrome/140 Safari/537.36`],
  ['Edge on Windows', `Mozilla/5.0 (Windows NT 10.0) ${webkit} Chrome/140 Safari/537.36 Edg/140`],
  ['Opera on Linux', `Mozilla/5.0 (X11; Linux x86_64) ${webkit} Chrome/140 Safari/537.36 OPR/120`],
  ['Firefox on macOS', 'Mozilla/5.0 (Macintosh; Intel Mac OS X 15.0; rv:140.0) Gecko/20100101 Firefox/140.0'],
  ['Firefox', 'Firefox/140.0'],
  ['Windows', 'curl on Windows'],
  ['Browser', 'curl/8'],
  ['Browser', undefined],
])('%s', (name, userAgent) => {
  expect(deviceName(userAgent)).toBe(name);
});
