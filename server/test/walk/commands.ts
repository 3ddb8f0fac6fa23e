import fc from 'fast-check';

/** A command of a walk. Plain values, so that fast-check can shrink and print them. */
export type Command =
  | Open
  | { do: 'go'; app: number; tab: number; pick: number }
  /** Takes the steps of an honest page until its sign-in ends. */
  | { do: 'finish'; app: number; tab: number; pick: number }
  | ArbitraryStep
  | Answer
  | { do: 'resume'; app: number; tab: number }
  | { do: 'authorize'; app: number; browser: number; client: number; ask: Ask; access: Access }
  | { do: 'exchange'; app: number; pick: number; deviation: number }
  | { do: 'userinfo'; app: number; pick: number }
  | Refresh
  | Recover
  | {
      do: 'logout';
      app: number;
      browser: number;
      client: number;
      hint: number;
      isSession: boolean;
      isConfirmed: boolean;
    }
  | { do: 'account'; app: number; browser: number; project: number; change: number; pick: number }
  | OwnChange
  | { do: 'console'; app: number; browser: number; operation: number }
  | { do: 'people'; app: number; project: number; person: number; action: number; pick: number }
  /** The directory deactivates a user who can sign in. */
  | { do: 'leave'; app: number; project: number; pick: number }
  | { do: 'policy'; app: number; project: number; field: number; value: number }
  | { do: 'client'; client: number; isRule: boolean }
  | ChangeAccess
  | Arrive
  | { do: 'approval'; app: number; act: 'approve' | 'decline'; pick: number }
  | { do: 'clock'; seconds: number }
  | { do: 'skew'; app: number; milliseconds: number }
  | { do: 'spend'; pick: number }
  | { do: 'mail' }
  | { do: 'probe'; app: number; client: number }
  | Both
  | Mix;

/** A user mixes values that they have seen into a request. */
export interface Mix {
  do: 'mix';
  app: number;
  party: number;
  seed: number;
}
/** Two requests at once; without a second, the first one twice. */
export interface Both {
  do: 'both';
  first: Command;
  second: Command | null;
}

/** An admin restricts an application to users with a rule, opens it to everyone, or changes a rule. */
export interface ChangeAccess {
  do: 'access';
  app: number;
  client: number;
  /** `shut-out`: the last user who got a code loses access, and the application and the browsers use what they have. */
  act: 'restrict' | 'open' | 'grant' | 'revoke' | 'shut-out';
  pick: number;
}

/** A person asks to sign up where an admin must approve it; the admin decides, and the person tries again. */
export interface Arrive {
  do: 'arrive';
  app: number;
  tab: number;
  browser: number;
  entry: 'sdk' | 'hosted';
  pick: number;
}

export type Ask = 'plain' | 'login' | 'now' | 'minutes';
/** `base`: at the base issuer. Otherwise at the project's, with refresh tokens bound to the session, or with `offline_access`. */
export type Access = 'base' | 'online' | 'offline';
export interface Open {
  do: 'open';
  app: number;
  tab: number;
  browser: number;
  entry: 'sdk' | 'hosted' | 'console';
  client: number;
  ask: Ask;
  access: Access;
  /** The user, and which of the browser's keys is used; 2: that of the application's own page. */
  person: number;
  key: number;
  hasPkce: boolean;
}
export interface ArbitraryStep {
  do: 'arbitrary';
  app: number;
  tab: number;
  step: Step;
  /** 0: the last typed address; otherwise one of the addresses. */
  who: number;
  /** Source of the code: this transaction, any mailbox, a factor, or an invalid value. */
  otp: number;
  session: number;
  method: number;
  phone: number;
  proof: number;
  key: number;
  flags: number;
  /** Occasionally the handle or nonce of another tab. */
  stray: number;
}
/** Answers a WebAuthn challenge, usually a new one of the tab. */
export interface Answer {
  do: 'passkey';
  app: number;
  tab: number;
  isRegistration: boolean;
  /** Whether the last challenge is answered again. */
  isAgain: boolean;
  /** 0-3: the right answer; otherwise one fault each. */
  deviation: number;
  /** The authenticator: 0 of the tab's person, 5 the attacker's. */
  holder: number;
  pick: number;
}
/** A refresh or revocation request of a back end. */
export interface Refresh {
  do: 'refresh';
  app: number;
  /** One of the last grants. */
  pick: number;
  deviation: Deviation;
}
/**
 * `repeat`: the token that the live one replaced. `late`: the same, half a minute later. `old`: an earlier one. `forged`: of
 * a known family.
 */
const deviations = [
  ...(['live', 'live', 'live', 'live', 'repeat', 'late', 'old', 'less', 'more', 'forged', 'stranger'] as const),
  ...(['other-client', 'base-issuer', 'other-issuer'] as const),
  ...(['revoke', 'revoke-access', 'revoke-old', 'revoke-other-client'] as const),
];
export type Deviation = (typeof deviations)[number];
/** A user adds an authenticator app, or moves to another address, at the account page. */
export interface OwnChange {
  do: 'app' | 'move';
  app: number;
  tab: number;
  browser: number;
  client: number;
  person: number;
  pick: number;
}
/** A recovery: an admin grants or cancels it, or a browser opens the link that cancels it. */
export interface Recover {
  do: 'recovery';
  app: number;
  browser: number;
  project: number;
  person: number;
  act: (typeof acts)[number];
  pick: number;
}
/** `lose`: a grant, and a sign-in by its code after the waiting time, or by an early, cancelled, used or foreign code. */
const acts = [...(['lose', 'lose', 'lose', 'grant', 'cancel', 'link', 'look', 'forged-link'] as const)];
const steps = [
  'authenticate',
  'verify-email-otp',
  'verify-device',
  'initiate-mfa',
  'verify-mfa',
  'change-phone-number',
  'verify-phone-number',
  'passkey-options',
  'verify-passkey',
  'register-passkey',
] as const;
export type Step = (typeof steps)[number];

const tabCount = 4;
const app = fc.nat(1);
const tab = fc.nat(tabCount - 1);
const browser = fc.nat(2);
const pick = fc.nat(63);
const ask = fc.constantFrom<Ask>('plain', 'plain', 'plain', 'login', 'now', 'minutes');

const access = fc.constantFrom<Access>('base', 'online', 'offline');
const open = fc.record({
  ...{
    do: fc.constant('open' as const),
    app,
    tab,
    browser,
    ask,
    access,
    person: fc.nat(3),
    key: fc.constantFrom(0, 0, 0, 1, 1, 1, 2),
  },
  entry: fc.constantFrom<Open['entry']>('sdk', 'sdk', 'sdk', 'hosted', 'hosted', 'hosted', 'console'),
  client: fc.constantFrom(0, 0, 0, 1, 2),
  hasPkce: fc.boolean(),
});
const go = fc.record({ do: fc.constant('go' as const), app, tab, pick: fc.nat(31) });
const arbitrary = fc.record({
  ...{
    do: fc.constant('arbitrary' as const),
    app,
    tab,
    step: fc.constantFrom('authenticate' as const, 'authenticate' as const, ...steps),
    who: fc.nat(4),
    otp: fc.nat(9),
  },
  ...{ session: fc.nat(5), method: fc.nat(3), phone: fc.nat(4), proof: fc.nat(9), key: fc.nat(9), flags: fc.nat(7) },
  stray: fc.nat(19),
});
const passkey = fc.record({
  ...{ do: fc.constant('passkey' as const), app, tab, isRegistration: fc.boolean(), deviation: fc.nat(18), pick },
  ...{ isAgain: fc.constantFrom(false, false, true), holder: fc.constantFrom(0, 0, 0, 0, 1, 2, 3, 4, 5) },
});
const recovery = (some: readonly Recover['act'][]) =>
  fc.record({
    ...{ do: fc.constant('recovery' as const), app, browser, project: fc.constantFrom(0, 0, 0, 1, 2) },
    ...{ person: fc.nat(3), act: fc.constantFrom(...some), pick },
  });
const ownChange = fc.record({
  ...{
    do: fc.constantFrom('app' as const, 'move' as const),
    app,
    tab,
    browser,
    client: fc.constantFrom(0, 0, 1),
    person: fc.nat(3),
    pick,
  },
});
const turn = fc.record({
  do: fc.constant('clock' as const),
  seconds: fc.constantFrom(1, 31, 31, 31, 61, 130, 301, 601, 3700, 90_000, 2_700_000),
});

const mix = fc.record({
  ...{ do: fc.constant('mix' as const), app, party: fc.nat(1), seed: fc.nat(2 ** 31 - 1) },
});

const resume = fc.record({ do: fc.constant('resume' as const), app, tab });
const authorize = fc.record({ do: fc.constant('authorize' as const), app, browser, client: fc.nat(3), ask, access });
const exchange = fc.record({ do: fc.constant('exchange' as const), app, pick, deviation: fc.nat(10) });
const refresh = fc.record({
  do: fc.constant('refresh' as const),
  app,
  pick,
  deviation: fc.constantFrom(...deviations),
});
const userinfo = fc.record({ do: fc.constant('userinfo' as const), app, pick });
const account = fc.record({
  ...{ do: fc.constant('account' as const), app, browser, project: fc.nat(2), change: pick, pick },
});
const console = fc.record({ do: fc.constant('console' as const), app, browser, operation: fc.nat(3) });
const people = fc.record({
  ...{ do: fc.constant('people' as const), app, project: fc.nat(2), person: fc.nat(3), action: fc.nat(13), pick },
});
const leave = fc.record({ do: fc.constant('leave' as const), app, project: fc.nat(1), pick });
const policy = fc.record({
  ...{ do: fc.constant('policy' as const), app, project: fc.nat(2), field: fc.nat(9), value: fc.nat(3) },
});

const arrive = fc.record({
  ...{ do: fc.constant('arrive' as const), app, tab, browser, pick },
  entry: fc.constantFrom<Arrive['entry']>('sdk', 'hosted'),
});
const approval = fc.record({
  ...{ do: fc.constant('approval' as const), app, pick, act: fc.constantFrom('approve' as const, 'decline' as const) },
});

type Weighted = [number, fc.Arbitrary<Command>];
const weighted: Weighted[] = [
  [7, open],
  [40, go],
  [10, fc.record({ do: fc.constant('finish' as const), app, tab, pick: fc.nat(31) })],
  [20, arbitrary],
  [9, passkey],
  [3, resume],
  [3, authorize],
  [4, exchange],
  [9, refresh],
  [2, recovery(acts)],
  [2, userinfo],
  [1, logout()],
  [8, account],
  [5, ownChange],
  [2, console],
  [3, people],
  [5, leave],
  [2, policy],
  [1, fc.record({ do: fc.constant('client' as const), client: fc.nat(2), isRule: fc.boolean() })],
  [1, accessBy('shut-out', 'shut-out', 'restrict', 'open', 'grant', 'revoke')],
  [2, arrive],
  [1, approval],
  [6, turn],
  [1, fc.record({ do: fc.constant('skew' as const), app, milliseconds: fc.integer({ min: -2000, max: 2000 }) })],
  [2, fc.record({ do: fc.constant('spend' as const), pick })],
  [2, fc.constant({ do: 'mail' as const })],
  [1, fc.record({ do: fc.constant('probe' as const), app, client: fc.nat(2) })],
];

/** Commands of one request each, which may run concurrently with another. */
const meeting: Weighted[] = [
  ...([
    [40, go],
    [20, arbitrary],
    [3, resume],
    [3, authorize],
    [8, exchange],
    [9, refresh],
    [2, userinfo],
  ] as Weighted[]),
  ...([
    [1, logout()],
    [8, account],
    [2, console],
    [4, people],
    [2, leave],
    [2, policy],
    [2, accessBy('restrict', 'open', 'grant', 'revoke')],
    [1, approval],
  ] as Weighted[]),
  [2, recovery(['grant', 'cancel', 'link'])],
  [30, mix],
];

function logout(): fc.Arbitrary<Command> {
  const flags = { isSession: fc.boolean(), isConfirmed: fc.boolean() };
  return fc.record({ do: fc.constant('logout' as const), app, browser, client: fc.nat(2), hint: fc.nat(7), ...flags });
}

function accessBy(...acts: ChangeAccess['act'][]): fc.Arbitrary<Command> {
  const at = { do: fc.constant('access' as const), app, client: fc.nat(2), pick };
  return fc.record({ ...at, act: fc.constantFrom(...acts) });
}

const oneOf = (some: readonly Weighted[]): fc.Arbitrary<Command> =>
  fc.oneof(...some.map(([weight, one]) => ({ weight, arbitrary: one })));
const met = oneOf(meeting);
const both = fc.record<Both>({
  do: fc.constant('both' as const),
  first: met,
  second: fc.option(met, { freq: 2 }),
});

/**
 * The actors of a walk: one after another, users who mix values, or all of them, with some requests at once: these may end
 * in any order, so that a walk does not repeat exactly.
 */
const actorSets = {
  'in-turn': oneOf(weighted),
  mixed: mix as fc.Arbitrary<Command>,
  all: oneOf([
    [140, oneOf(weighted)],
    [30, mix],
    [30, both],
  ]),
};
export type ActorSet = keyof typeof actorSets;

/** Initial policies and the commands of a walk. */
export const walk = (minLength: number, maxLength: number, actors: ActorSet) =>
  fc
    .record({
      people: fc.array(fc.record({ person: fc.nat(3), client: fc.constantFrom(0, 0, 2), pick: fc.nat(31) }), {
        maxLength: 3,
      }),
      policies: fc.record({
        mfaPolicy: fc.constantFrom('off' as const, 'optional' as const, 'optional' as const, 'required' as const),
        signUp: fc.constantFrom('open' as const, 'open' as const, 'provisioned_only' as const),
        emailFactor: fc.boolean(),
        passkeyPolicy: fc.constantFrom(
          'allowed' as const,
          'allowed' as const,
          'preferred' as const,
          'required' as const,
        ),
        rememberMfaSeconds: fc.constantFrom(0, 3600),
      }),
      commands: fc.array(actorSets[actors], { minLength, maxLength, size: 'max' }),
    })
    .map(({ people, policies, commands }) => ({ policies, commands: [...people.flatMap(firstSignIn), ...commands] }));

/** A sign-in on the hosted page; most add a passkey. */
function firstSignIn({ person, client, pick }: { person: number; client: number; pick: number }): Command[] {
  const at = { app: 0, tab: person };
  const access = pick < 16 ? 'offline' : 'online';
  const page = { browser: person % 3, entry: 'hosted', client, ask: 'plain', access, person, key: 0 } as const;
  return [
    { do: 'open', ...at, ...page, hasPkce: false },
    { do: 'finish', ...at, pick },
  ];
}
