import type { Request, Response } from 'express';
import type { Problem } from '../../domain/kernel/problem.ts';
import { requestContext } from '../../http/context.ts';
import { errorContent } from './error-content.ts';

/** Sends a refusal outside of GraphQL's execution, in the shape of a GraphQL error. The caller sets the status. */
export function sendProblem(req: Request, res: Response, problem: Problem): void {
  const isChallenged = res.hasHeader('WWW-Authenticate');
  if (problem.code === 'unauthenticated' && !isChallenged) res.setHeader('WWW-Authenticate', 'Bearer');
  if ('retryAfterSeconds' in problem) res.setHeader('Retry-After', String(problem.retryAfterSeconds));
  const { message, extensions } = errorContent(problem);
  const { requestId } = requestContext(req);
  res.json({ errors: [{ message, extensions: { ...extensions, requestId } }] });
}
