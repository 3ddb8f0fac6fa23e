/** Our session ends with that of the provider (`SessionNotOnOrAfter`, SAML Core section 2.7.2). */
import { expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { rows } from '../../test/rows.ts';
import { resignedBy } from '../../test/saml.ts';
import { SamlConnectWorld } from '../../test/saml-connect-world.ts';

const saml = SamlConnectWorld.ofTests();
const { own, world } = saml;
const at = (seconds: number) => new Date(world.app.clock.now().getTime() + seconds * 1000);
const statement = (until: Date) => ` SessionNotOnOrAfter="${until.toISOString()}" SessionIndex=`;
const endsAt = (until: Date) => {
  saml.provider.lies = { edit: (xml) => resignedBy(saml.provider.key, xml, ' SessionIndex=', statement(until)) };
};
const ends = () =>
  rows<{ expires_at: string }>(
    world.app.services.db,
    'select expires_at from sessions where project_id = ? and ended_at is null',
    [world.project.id],
  );

it('a session lasts no longer than that of the provider, with the tolerated skew', async () => {
  const until = at(1800);
  endsAt(until);
  const browser = await own.browser();
  const resume = await saml.through(browser);
  expect(await browser.claimsAt(locationOf(await browser.browser.get(resume.href)))).toHaveProperty('sub');
  const expected = (date: Date) => Math.floor(date.getTime() / 1000) + 60;
  const [session] = await ends();
  expect(new Date(session?.expires_at ?? 0).getTime() / 1000).toBe(expected(until));
});

it('a later end than that of the project changes nothing', async () => {
  await saml.through(await own.browser());
  const [usual] = await ends();
  endsAt(at(10 * 365 * 86_400));
  await saml.through(await own.browser());
  const both = await ends();
  expect(new Set(both.map(({ expires_at: one }) => new Date(one).getTime()))).toEqual(
    new Set([new Date(usual?.expires_at ?? 0).getTime()]),
  );
});
