import type { Request, Response } from 'express';
import type { Client } from '../domain/clients/client.entity.ts';
import { hiddenFields, type Pages } from '../http/pages.ts';
import type { AuthorizeDeps } from './authorize.ts';
import type { EndSessionDeps } from './end-session.ts';

/** What the error page says, as a key of the messages; `client` and the like speak to people, not to developers. */
const reasons = {
  client: 'error.client',
  'redirect-uri': 'error.redirectUri',
  parameters: 'error.parameters',
  'flow-expired': 'error.flowExpired',
} as const;

/** The pages of this room: nothing of the request but its id and registered names stands on them. */
export function oidcPages(pages: Pages): {
  errorPage: AuthorizeDeps['errorPage'];
  endSession: EndSessionDeps['pages'];
} {
  const errorPage = (req: Request, res: Response, status: number, reason: keyof typeof reasons) => {
    pages.send(req, res, 'error', { status, values: { message: pages.text(req, reasons[reason]) } });
  };
  return {
    errorPage,
    endSession: {
      error: errorPage,
      confirm: (req, res, client, { csrf = '', ...fields }, returnsTo) => {
        pages.send(req, res, 'confirm-logout', {
          values: { ...namesOf(client), csrf, action: '/oauth2/end_session' },
          html: { fields: hiddenFields(fields) },
          formTargets: returnsTo === undefined ? [] : [new URL(returnsTo).origin],
        });
      },
      signedOut: (req, res, client) => pages.send(req, res, 'signed-out', { values: namesOf(client) }),
    },
  };
}

function namesOf(client: Client | undefined): Record<string, string> {
  if (!client) return { client_name: '', project_name: 'Latchkey' };
  return { client_name: client.name, project_name: client.project.unwrap().name };
}
