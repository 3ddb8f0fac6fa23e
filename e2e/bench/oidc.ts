import { execFileSync } from 'node:child_process';
import { type Contender, type Figures, measure, type Workload } from './harness/measure.ts';
import { lessCpu, moreOften } from './harness/place.ts';
import { type Print, printTable, progress, type Row } from './harness/table.ts';
import type { Options } from './options.ts';
import { grantsOf } from './subjects/grants.ts';
import { benchedLatchkey } from './subjects/latchkey.ts';
import { type Peer, startPeer } from './subjects/peer.ts';
import {
  codeAlone,
  exchangeAlone,
  get,
  latchkeyProvider,
  type Provider,
  type Relying,
  relyingOf,
  signInAndAsk,
  userInfoAlone,
} from './subjects/relying.ts';
import { samlAnswers } from './subjects/saml.ts';

/**
 * Sign-in with a live session, code exchange, UserInfo, JWKS and discovery: Latchkey and other OpenID providers. SAML, refresh,
 * client credentials, introspection and token exchange at the issuer of a project: Latchkey alone.
 */
export async function oidc(print: Print, options: Options): Promise<Row[]> {
  const plan = options.plan;
  const latchkey = await benchedLatchkey();
  const peers: Peer[] = [];
  try {
    const own = await latchkeyProvider(latchkey, plan.concurrency);
    const oidcProvider = options.peersNamed('oidc-provider')
      ? await startPeer('oidc-provider', plan.concurrency)
      : undefined;
    if (oidcProvider) peers.push(oidcProvider);
    const durable = options.peersNamed('oidc-provider-postgres')
      ? await startPeer('oidc-provider-postgres', plan.concurrency, latchkey.peersDatabase())
      : undefined;
    if (durable) peers.push(durable);
    const betterAuth = options.peersNamed('better-auth')
      ? await startPeer('better-auth', plan.concurrency, latchkey.peersDatabase())
      : undefined;
    if (betterAuth) peers.push(betterAuth);
    const rows: Row[] = [];
    const enter = async (
      workload: string,
      contenders: Contender[],
      placesOf: (figures: Figures[]) => Row['places'],
      note?: string,
    ) => {
      if (options.only !== undefined && !workload.includes(options.only)) return;
      const figures = await measure(contenders, plan);
      rows.push({ workload, figures, places: placesOf(figures), ...(note && { note }) });
      progress(workload);
    };
    const contest = (
      workload: (relying: Relying) => Workload,
      kind: keyof Provider,
      ...against: (Peer | undefined)[]
    ) => [
      { subject: latchkey.subject, ...workload(own[kind]) },
      ...against.flatMap((peer) =>
        peer?.clients[kind] ? [{ subject: peer.subject, ...workload(relyingOf(peer, kind)) }] : [],
      ),
    ];

    await enter(
      'session → code → exchange → userinfo',
      contest(signInAndAsk, 'public', oidcProvider, durable, betterAuth),
      (figures) => [
        ...lessCpu(figures, 'oidc-provider-postgres', 0.5),
        ...lessCpu(figures, 'oidc-provider', 1),
        ...moreOften(figures, 'better-auth', 4),
      ],
      'oidc-provider rejects its own JWT access tokens at UserInfo, so it gets an opaque one, issued before.',
    );
    const most = signsSlowly() ? 0.7 : 1;
    const exchanged = (relying: Relying) => exchangeAlone(relying, options.quick ? 5 : undefined);
    for (const [kind, name] of [
      ['public', 'public'],
      ['confidential', 'private_key_jwt'],
    ] as const) {
      await enter(`exchange alone, ${name}`, contest(exchanged, kind, oidcProvider, durable), (figures) =>
        lessCpu(figures, 'oidc-provider', most),
      );
    }
    await enter('session → code', contest(codeAlone, 'public', oidcProvider, durable, betterAuth), () => []);
    await enter('userinfo', contest(userInfoAlone, 'public', oidcProvider, durable, betterAuth), (figures) =>
      moreOften(figures, 'oidc-provider', 1),
    );
    const answer = await samlAnswers(latchkey, own.projectId, own.public);
    await enter('session → SAML answer', [{ subject: latchkey.subject, ...answer }], () => []);
    const grants = await grantsOf(latchkey);
    for (const [workload, work] of [
      ['refresh', grants.refresh],
      ['client credentials', grants.clientCredentials],
      ['client credentials, DPoP', grants.dpop],
      ['introspection', grants.introspection],
      ['token exchange', grants.exchange],
    ] as const) {
      await enter(workload, [{ subject: latchkey.subject, ...work }], () => []);
    }
    for (const [workload, ownPath, peerPath] of [
      ['JWKS', '/.well-known/jwks.json', '/jwks'],
      ['discovery', '/.well-known/openid-configuration', '/.well-known/openid-configuration'],
    ] as const) {
      const contenders: Contender[] = [{ subject: latchkey.subject, ...get(ownPath) }];
      if (oidcProvider) contenders.push({ subject: oidcProvider.subject, ...get(peerPath) });
      await enter(workload, contenders, (figures) => moreOften(figures, 'oidc-provider', 1));
    }
    printTable(rows, print);
    return rows;
  } finally {
    for (const peer of peers) await peer.stop();
    await latchkey.stop();
  }
}

/** Whether the servers' Node has its own OpenSSL, where P-521 signatures dominate the cost (decisions/0077). */
function signsSlowly(): boolean {
  const shared = 'process.config.variables.node_shared_openssl';
  return execFileSync(process.execPath, ['-p', shared], { encoding: 'utf8' }).trim() !== 'true';
}
