import type { Request } from 'express';
import type { WaitingDevice } from '../../domain/ceremonies/requests/device-approvals.ts';
import { seconds } from '../../domain/kernel/clock.ts';
import { networkOf } from '../../domain/kernel/network.ts';
import { userScopes } from '../../domain/projects/issuer.ts';
import { requestContext } from '../../http/context.ts';
import { escapeHtml } from '../../http/html.ts';
import type { Pages } from '../../http/pages.ts';

/** Scopes that are not shown to users. */
const silent = ['openid'];

/** Details by which a person recognizes a device: time, network, scope and organization of its request. HTML of a `dl`. */
export function facts(
  pages: Pages,
  req: Request,
  { device }: WaitingDevice,
  organization: string | null,
  nowSeconds: number,
): string {
  const t = (key: string, values: Record<string, string> = {}) => pages.text(req, key, values);
  const ago = Math.max(0, Math.round((nowSeconds - seconds(device.createdAt)) / 60));
  const time = new Intl.RelativeTimeFormat(pages.language(req), { numeric: 'auto' }).format(-ago, 'minute');
  const scopes = device.scope.split(' ').filter((scope) => !silent.includes(scope));
  const access = [
    t('scope.openid'),
    ...scopes.map((scope) => (userScopes.includes(scope) ? t(`scope.${scope}`) : scope)),
    ...(organization === null ? [] : [t('consent.organization', { organization })]),
  ];
  const rows = [
    [t('device.asked'), escapeHtml(time)],
    ...(device.ip ? [[t('device.network'), escapeHtml(`${device.ip} (${t(placeOf(req, device.ip))})`)]] : []),
    [t('device.access'), `<ul>${access.map((one) => `<li>${escapeHtml(one)}</li>`).join('')}</ul>`],
  ];
  return rows.map(([name, value]) => `<dt>${escapeHtml(name ?? '')}</dt><dd>${value}</dd>`).join('');
}

function placeOf(req: Request, ip: string): string {
  return networkOf(ip) === networkOf(requestContext(req).ip) ? 'device.sameNetwork' : 'device.otherNetwork';
}
