import { ok } from 'node:assert/strict';
import fc from 'fast-check';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DeviceKey, newDeviceKey, type Proofed, SigninPage, type StepAnswer } from '../../test/signin-browser.ts';
import { appOrigin, newAddress, SigninWorld } from '../../test/signin-world.ts';
import type { Page } from '../domain/ceremonies/callers.ts';
import type { Step } from '../domain/ceremonies/steps.ts';
import { digest } from '../domain/kernel/secret.ts';
import { AuthorizationCode } from '../domain/tokens/authorization-code.entity.ts';
import { toSigninFailure } from './signin-error.ts';
import { readJson, readStep, writeAnswer } from './wire.ts';

/** Of about seventy steps each; `LATCHKEY_WALKS=1400` walks 100,000 steps (decision 0067). */
const walks = Number(process.env['LATCHKEY_WALKS'] ?? 200);
/** Walks on their way at once: while one waits for the database, another one computes. */
const abreast = 8;
const policies = ['off', 'optional', 'required'] as const;

let world: SigninWorld;
/** One project for each policy, and the page of its application. */
const sites = new Map<string, Page>();
beforeAll(async () => {
  world = await SigninWorld.open();
  // Limits have tests of their own; here they would only end walks early.
  await world.app.services.db.transaction(async (em) => {
    await em.execute(
      "create function unlimited() returns trigger language plpgsql as 'begin new.spent := 1; return new; end'",
    );
    await em.execute(
      'create trigger unlimited before insert or update on budgets for each row execute function unlimited()',
    );
  });
  for (const mfaPolicy of policies) {
    await world.begin({ mfaPolicy, testMode: true });
    sites.set(mfaPolicy, await world.app.services.callers.byApiKey(world.apiKey, appOrigin));
  }
});
afterAll(() => world.app.close());

/** A page that calls the domain without a network between: the walk gets further in its time. */
class DirectPage extends SigninPage {
  site!: Page;

  override async post(step: string, body: unknown, headers: Record<string, string> = {}): Promise<StepAnswer> {
    const { ceremonies } = world.app.services;
    const bytes = Buffer.from(JSON.stringify(body));
    const page = this.site;
    let answer: Record<string, unknown>;
    if (step === 'challenge') {
      const { jkt } = body as { jkt: string };
      const begun = await ceremonies.challenge(page, { jkt }, undefined);
      const names = { project_id: page.project.id, client_id: page.client.id, issuer: world.app.url };
      answer = { ...begun, ...names };
    } else {
      const caller = { ...page, actor: { kind: 'anonymous' as const }, locale: 'en' as const };
      const fields = readStep(step as Step, readJson(bytes));
      try {
        const taken = await ceremonies.take(step as Step, caller, {
          ...fields,
          proof: headers['Device-Proof'],
          body: bytes,
        });
        answer = writeAnswer(step as Step, taken, null) as Record<string, unknown>;
      } catch (thrown) {
        const failure = toSigninFailure(thrown, 'id');
        if (failure.isBug) throw thrown;
        answer = failure.body;
      }
    }
    if (typeof answer['nonce'] === 'string') this.nonce = answer['nonce'];
    return answer as StepAnswer;
  }
}

/** What has really been shown, as the model remembers it: it knows nothing of states. */
interface Evidence {
  userid: string;
  /** The right, newest code of this very sign-in was given for the address. */
  addressProved: boolean;
  /** The right code of the factor was given in this very sign-in. */
  factorProved: boolean;
  /** Begun as a step-up, and come to its code. */
  stepUp: boolean;
  steppedUp: boolean;
}
interface Walker {
  page: DirectPage;
  browser: number;
  evidence: Evidence;
  sessionId: string;
  /** The codes of this sign-in that the service has sent. */
  otp: string;
  factorOtp: string;
  phoneOtp: string;
}
interface Person {
  userid: string;
  phone: string;
  /** The factor that was verified, if any. */
  hasFactor: boolean;
  secret: string | null;
}

type Choice = {
  good: boolean;
  stepUp: boolean;
  who: number;
  page: number;
  method: 'none' | 'email' | 'totp';
  twist: number;
};
type Command = Choice & { step: 'challenge' | 'wait' | Step };

const command: fc.Arbitrary<Command> = fc.record({
  step: fc.oneof(
    { weight: 2, arbitrary: fc.constant('challenge' as const) },
    { weight: 1, arbitrary: fc.constant('wait' as const) },
    {
      weight: 12,
      arbitrary: fc.constantFrom<Step>(
        'authenticate',
        'verify-email-otp',
        'verify-device',
        'initiate-mfa',
        'verify-mfa',
        'change-phone-number',
        'verify-phone-number',
      ),
    },
  ),
  good: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  stepUp: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  who: fc.nat(1),
  page: fc.nat(2),
  method: fc.constantFrom('none', 'email', 'totp'),
  twist: fc.nat(3),
});

/** Half of the walks wander, the others mostly follow the path, to get deep. */
const walk = fc.record({
  policy: fc.constantFrom(...policies),
  commands: fc.array(command, { minLength: 30, maxLength: 120, size: 'max' }),
  straight: fc.boolean(),
});

let serial = 0;
/** A mobile in a range of its own: ranges have a budget. */
const phone = (n: number) => `+4915${String(n % 1000).padStart(3, '0')}${String(n).padStart(6, '0')}`;

describe('a random walk through sign-in', () => {
  const seen = { steps: 0, successes: 0, withFactor: 0, phones: 0 };

  it('never gets a code without all that policy demands', { timeout: walks * 5_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(walk, { minLength: abreast, maxLength: abreast }), async (side) => {
        await Promise.all(
          side.map(async ({ policy, commands, straight }) =>
            new Walk(policy, await browsers(2)).run(commands, straight),
          ),
        );
      }),
      { numRuns: Math.ceil(walks / abreast), endOnFailure: true },
    );
    expect(seen.steps, JSON.stringify(seen)).toBeGreaterThan(walks * 30);
    expect(seen.successes, `${JSON.stringify(seen)}`).toBeGreaterThan(20);
    expect(seen.withFactor).toBeGreaterThan(3);
    expect(seen.phones).toBeGreaterThan(0);
  });

  const browsers = (count: number) => Promise.all(Array.from({ length: count }, newDeviceKey));

  class Walk {
    private readonly people: Person[] = [0, 1].map(() => ({
      userid: newAddress(),
      phone: phone(++serial),
      hasFactor: false,
      secret: null,
    }));
    private readonly registered = new Set<string>();
    private readonly walkers: (Walker | undefined)[] = [];
    private readonly policy: string;
    private readonly keys: DeviceKey[];

    constructor(policy: string, keys: DeviceKey[]) {
      this.policy = policy;
      this.keys = keys;
    }

    async run(commands: Command[], straight: boolean): Promise<void> {
      for (const given of commands) {
        const walker = this.walkers[given.page];
        const step = straight && walker ? this.nextOf(walker, given) : given.step;
        if (step === 'challenge' || !walker) await this.begin(given);
        else if (step === 'wait') world.app.clock.turn(31);
        else await this.take(step, walker, given);
        seen.steps += 1;
      }
    }

    /** What an honest page would do next, for walks that are to arrive. */
    private nextOf(walker: Walker, given: Command): Command['step'] {
      if (!given.good) return given.step;
      return (walker as Walker & { next?: Command['step'] }).next ?? 'authenticate';
    }

    private async begin({ page, who }: Command): Promise<void> {
      const browser = (page + who) % 2;
      const now = () => Math.floor(world.app.clock.now().getTime() / 1000);
      const credential = { origin: appOrigin, apiKey: world.apiKey };
      const direct = new DirectPage(world.app.url, credential, this.keys[browser] as DeviceKey, now);
      direct.site = sites.get(this.policy) as Page;
      await direct.challenge();
      const evidence = { userid: '', addressProved: false, factorProved: false, stepUp: false, steppedUp: false };
      this.walkers[page] = { page: direct, browser, evidence, sessionId: '', otp: '', factorOtp: '', phoneOtp: '' };
    }

    private async take(step: Step, walker: Walker, given: Command): Promise<void> {
      const person = this.people[given.who] as Person;
      // An honest page stays with its person; a bent one may change.
      const userid =
        given.good && walker.evidence.userid && step !== 'authenticate' ? walker.evidence.userid : person.userid;
      const subject = this.people.find((one) => one.userid === userid) as Person;
      const otp = this.codeOf(step, walker, subject, given);
      const fields = {
        userid,
        ...(step === 'authenticate' && given.stepUp && { step_up: 'change_phone_number' }),
        ...(step === 'change-phone-number' && { phone_number: subject.phone }),
        ...(step === 'verify-device' && given.method !== 'none' && { mfa_method: given.method }),
        ...(otp !== undefined && { otp }),
        ...(step === 'initiate-mfa' && { session_id: given.good ? walker.sessionId : 'x'.repeat(43) }),
      };
      const hadFactor = subject.hasFactor;
      const proof = this.proofOf(step, walker, given);
      const answer = await walker.page.step(step, fields, proof);
      const learnt = { answer, otp, hadFactor, proved: proof !== undefined, stepUp: given.stepUp };
      await this.learn(step, walker, subject, learnt);
    }

    private codeOf(step: Step, walker: Walker, subject: Person, { good, twist }: Command): string | undefined {
      if (step !== 'verify-email-otp' && step !== 'verify-mfa' && step !== 'verify-phone-number') return undefined;
      const others = this.walkers.flatMap((one) => (one && one !== walker ? [one.otp, one.factorOtp] : []));
      if (!good) return ['000000', '', walker.otp, others[0] ?? ''][twist];
      if (step === 'verify-email-otp') return walker.otp;
      if (step === 'verify-phone-number') return walker.phoneOtp || '000000';
      const epoch = Math.floor(world.app.clock.now().getTime() / 1000);
      return walker.factorOtp || (subject.secret ? generateSync({ secret: subject.secret, epoch }) : '000000');
    }

    private proofOf(step: Step, walker: Walker, { good, twist }: Command): Proofed | undefined {
      if (step === 'verify-email-otp') return undefined;
      const kind = step === 'verify-device' ? 'registration' : 'use';
      if (good) {
        const known = this.registered.has(`${walker.browser} ${this.people[0]?.userid}`) || this.registered.size > 0;
        return step === 'authenticate' && !known ? undefined : { kind };
      }
      const other = this.keys[1 - walker.browser] as DeviceKey;
      const bent: (Proofed | undefined)[] = [
        undefined,
        { kind, key: other },
        { kind, claims: { nonce: 'x'.repeat(43) } },
        { kind: 'use' },
      ];
      return bent[twist];
    }

    private async learn(
      step: Step,
      walker: Walker & { next?: Command['step'] },
      subject: Person,
      {
        answer,
        otp,
        hadFactor,
        proved,
        stepUp,
      }: { answer: StepAnswer; otp: string | undefined; hadFactor: boolean; proved: boolean; stepUp: boolean },
    ): Promise<void> {
      const { evidence } = walker;
      if (answer.status === 'ERROR') {
        if (answer['error'].code === 'TRANSACTION_EXPIRED') walker.next = 'challenge';
        return;
      }
      if (step === 'authenticate' && answer.status !== 'INVALID_EMAIL') {
        Object.assign(evidence, {
          userid: subject.userid,
          addressProved: false,
          factorProved: false,
          stepUp,
          steppedUp: false,
        });
        walker.otp = answer['code'] ?? walker.otp;
        walker.sessionId = answer['session_id'] ?? walker.sessionId;
        walker.next = answer.status === 'OTP_NEEDED' ? 'verify-email-otp' : 'initiate-mfa';
      }
      if (step === 'verify-email-otp') {
        ok(otp === walker.otp, 'the address was verified without its code');
        evidence.addressProved = true;
        walker.next = 'verify-device';
      }
      if (step === 'initiate-mfa') {
        walker.factorOtp = answer['code'] ?? '';
        subject.secret = answer['totp']?.secret ?? subject.secret;
        walker.next = 'verify-mfa';
      }
      if (step === 'verify-device' && ['SUCCESS', 'DEVICE_REGISTERED'].includes(answer.status)) {
        // A device on which a factor is being set up may choose another one: it was registered on proof already.
        const again = this.registered.has(`${walker.browser} ${subject.userid}`) && !hadFactor;
        ok(evidence.addressProved || again, 'a device was registered before the address was proved');
        ok(evidence.userid === subject.userid, 'a device was registered for another user');
        this.registered.add(`${walker.browser} ${subject.userid}`);
        walker.next = 'authenticate';
      }
      if (step === 'verify-mfa' && answer.status === 'SUCCESS') {
        ok(otp !== '' && otp !== '000000', 'the factor was met without its code');
        evidence.factorProved = true;
        subject.hasFactor = true;
      }
      if (step === 'change-phone-number') {
        ok(evidence.steppedUp && proved, 'a number was to be changed without a step-up');
        ok(evidence.addressProved || evidence.factorProved, 'a step-up without a fresh proof');
        walker.phoneOtp = answer['code'] ?? '';
        walker.next = 'verify-phone-number';
      }
      if (step === 'verify-phone-number') {
        ok(evidence.steppedUp && proved && otp === walker.phoneOtp, 'a number was changed without its code');
        seen.phones += 1;
        walker.next = 'challenge';
      }
      if (answer['code'] && answer.status === 'SUCCESS') {
        await this.judge(walker, subject, answer['code'], hadFactor, proved);
        evidence.steppedUp = evidence.stepUp;
        walker.next = evidence.stepUp ? 'change-phone-number' : 'challenge';
      }
    }

    /** The end of a sign-in: everything that its user and the policy demand must have been shown. */
    private async judge(
      walker: Walker,
      subject: Person,
      code: string,
      hadFactor: boolean,
      proved: boolean,
    ): Promise<void> {
      const { evidence } = walker;
      const issued = await world.app.services.db
        .reader()
        .findOneOrFail(AuthorizationCode, { hash: digest(code) }, { populate: ['user'] });
      ok(issued.user.getEntity().emailKey === subject.userid, 'a code of another user');
      ok(evidence.userid === subject.userid, 'a code for another user than the sign-in was begun for');
      ok(proved, 'a code without a device proof');
      const device = this.registered.has(`${walker.browser} ${subject.userid}`);
      ok(evidence.addressProved || device, 'a code without the address or a trusted device');
      ok(device, 'a code on a device that was never registered');
      if (hadFactor) ok(evidence.factorProved, 'a code without the factor that the user has');
      if (this.policy === 'required') ok(subject.hasFactor, 'a code without the factor that policy demands');
      ok(issued.amr.includes('mfa') === evidence.factorProved, 'amr tells of a factor that was not met, or not of one');
      if (evidence.stepUp) ok(evidence.addressProved || evidence.factorProved, 'a step-up by the device alone');
      seen.successes += 1;
      if (evidence.factorProved) seen.withFactor += 1;
    }
  }
});
