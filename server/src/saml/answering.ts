import type { Request, Response } from 'express';
import type { Client } from '../domain/clients/client.entity.ts';
import type { Clock } from '../domain/kernel/clock.ts';
import { Refusal } from '../domain/kernel/problem.ts';
import type { Random } from '../domain/kernel/random.ts';
import type { SamlKeys } from '../domain/keys/saml-keys.ts';
import { newErrorResponse } from '../domain/saml/messages/response.ts';
import { entityIdOf, type SamlAnswers, type SamlAsked, samlId } from '../domain/tokens/saml/saml-answers.ts';
import { actorOf } from '../http/context.ts';
import { sendForm } from '../http/form-post.ts';
import { issuerOf } from '../http/issuer.ts';
import type { StatusRefusal } from './asked.ts';

export interface Answering {
  clock: Clock;
  random: Random;
  samlKeys: Pick<SamlKeys, 'signing'>;
  samlAnswers: Pick<SamlAnswers, 'answer'>;
}

interface Answered {
  client: Client;
  acsUrl: string;
  asked: SamlAsked;
  relayState: string | undefined;
  code: string;
}

/** Posts the response for a code to the ACS; an error status if the code is refused. */
export async function sendAnswer(deps: Answering, req: Request, res: Response, answered: Answered): Promise<void> {
  const { client, acsUrl, asked, code, relayState } = answered;
  const refused = (code: 'requester' | 'responder', detail: 'requestDenied' | 'invalidNameIdPolicy', message: string) =>
    sendError(deps, req, res, { client, acsUrl, asked, relayState, refused: { code, detail, message } });
  try {
    const issuer = issuerOf(req);
    const made = await deps.samlAnswers.answer({ client, issuer, code, acsUrl, asked, actor: actorOf(req) });
    if (made === null)
      return await refused('responder', 'requestDenied', 'The application has been changed: try again.');
    if (made === 'no-name-id') {
      return await refused('requester', 'invalidNameIdPolicy', 'The user has no value for this NameID format.');
    }
    post(res, answered, made.xml);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { code: problem } = error.problem;
    if (problem === 'client-rejected')
      return refused('requester', 'requestDenied', 'This request was answered before.');
    if (problem !== 'grant-rejected') throw error;
    await refused('responder', 'requestDenied', 'The sign-in has ended.');
  }
}

/** Posts an error status to the ACS (SAML Profiles section 4.1.4.2). */
export async function sendError(deps: Answering, req: Request, res: Response, refusal: StatusRefusal): Promise<void> {
  const { client, acsUrl, asked, refused } = refusal;
  const key = await deps.samlKeys.signing(client.project.id);
  const issuer = entityIdOf(issuerOf(req));
  const at = deps.clock.now();
  const envelope = { id: samlId(deps.random), issuer, at, destination: acsUrl, inResponseTo: asked.id };
  const { xml } = await newErrorResponse(envelope, refused, key);
  post(res, refusal, xml);
}

function post(res: Response, { acsUrl, relayState }: Pick<Answered, 'acsUrl' | 'relayState'>, xml: string): void {
  const fields = { SAMLResponse: Buffer.from(xml).toString('base64') };
  sendForm(res, acsUrl, relayState === undefined ? fields : { ...fields, RelayState: relayState });
}
