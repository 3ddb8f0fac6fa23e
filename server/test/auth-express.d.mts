import type { RequestHandler } from 'express';

export function ExpressAuth(config: {
  providers: object[];
  secret: string;
  trustHost?: boolean;
  [setting: string]: unknown;
}): RequestHandler;
