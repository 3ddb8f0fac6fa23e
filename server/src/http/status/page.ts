/** `/status`: the state of the services for people and monitors. Public; off unless `STATUS_PAGE` is set. */
import type { ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { type PublicStatus, publicServices } from '../../domain/instance/public-status.ts';
import { html } from '../markup.ts';
import type { Observer } from '../observer.ts';
import { type Pages, wantsPage } from '../pages.ts';
import { matchedRoute, type Route } from '../routes/route.ts';

/** Minimum `Retry-After` of a 503 that does not count as a failure: a feature is not configured, such as SCIM without a token. */
const notSetUpSeconds = 60;

/** Records which requests of a service end with a server error. Requests that the client aborted do not count. */
export function observeServices(status: Pick<PublicStatus, 'record'>): Observer {
  return (req, res, next) => {
    res.once('finish', () => {
      const service = matchedRoute(req)?.service;
      if (service) status.record(service, !isFault(res));
    });
    next();
  };
}

function isFault(res: ServerResponse): boolean {
  return res.statusCode >= 500 && Number(res.getHeader('Retry-After') ?? 0) < notSetUpSeconds;
}

interface StatusDeps {
  status: Pick<PublicStatus, 'report'>;
  pages: Pages;
}

export const statusRoutes: readonly Route<StatusDeps>[] = [
  { path: '/status', methods: { GET: { handler: statusPage, openApi: 'page' } } },
];

function statusPage({ status, pages }: StatusDeps): RequestHandler {
  return (req, res) => {
    const { state, services, at } = status.report();
    res.vary('Accept');
    if (!wantsPage(req)) {
      res.setHeader('Cache-Control', 'no-store');
      res.json({ status: state, services, checked_at: at.toISOString() });
      return;
    }
    const text = (key: string) => pages.text(req, `status.${key}`);
    const rows = publicServices.map((service) => {
      const is = services[service];
      return html`<li class="${is}"><div><h2>${text(service)}</h2><p>${text(`${service}_hint`)}</p></div><strong>${text(is)}</strong></li>`;
    });
    const time = new Intl.DateTimeFormat(pages.locale(req), { timeStyle: 'medium', timeZone: 'UTC' }).format(at);
    const summary = pages.text(req, `status.all_${state}`);
    const checked = pages.text(req, 'status.checked', { time: `${time} UTC` });
    pages.send(req, res, 'plain/status', {
      values: { summary, checked, state },
      html: { services: html`${rows}`.text },
    });
  };
}
