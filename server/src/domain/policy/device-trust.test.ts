import { describe, expect, it } from 'vitest';
import { isTrusted, skipsFactor, type TrustState, trustAfterUse, trustEnd } from './device-trust.ts';

const day = 24 * 3600;
const registered = new Date('2026-01-01T00:00:00Z');
const after = (days: number) => new Date(registered.getTime() + days * day * 1000);
const policy = { deviceTrustSeconds: 30 * day, deviceTrustDays: 180 };
const device: TrustState = {
  createdAt: registered,
  registeredAt: registered,
  lastUsedAt: registered,
  trustedUntil: after(30),
  remembered: true,
  revokedAt: null,
  suspendedAt: null,
};
const slidTo = (days: number, over: Partial<TrustState> = {}) => ({
  ...device,
  lastUsedAt: after(days),
  trustedUntil: after(days + 30),
  ...over,
});

describe('a device', () => {
  it('is trusted until just before its stored expiry', () => {
    expect(trustEnd(device, policy)).toEqual(after(30));
    expect(isTrusted(device, policy, after(29.99))).toBe(true);
    expect(isTrusted(device, policy, after(30))).toBe(false);
  });

  it('is not trusted once it is revoked or its trust has ended', () => {
    expect(isTrusted({ ...device, revokedAt: after(1) }, policy, after(0))).toBe(false);
    expect(trustEnd({ ...device, trustedUntil: null }, policy)).toBeNull();
    expect(isTrusted({ ...device, trustedUntil: null }, policy, after(0))).toBe(false);
  });

  it('follows a shorter policy immediately, and a longer one from its next use', () => {
    expect(isTrusted(device, { ...policy, deviceTrustSeconds: 7 * day }, after(7))).toBe(false);
    expect(isTrusted(device, { ...policy, deviceTrustSeconds: 7 * day }, after(6))).toBe(true);
    expect(isTrusted(device, { ...policy, deviceTrustSeconds: 60 * day }, after(31))).toBe(false);
    expect(isTrusted(device, { ...policy, deviceTrustDays: 5 }, after(5))).toBe(false);
  });

  it('in daily use is trusted for 180 days after its registration', () => {
    expect(isTrusted(slidTo(179), policy, after(179.9))).toBe(true);
    expect(isTrusted(slidTo(180), policy, after(180))).toBe(false);
    expect(isTrusted(slidTo(180), { ...policy, deviceTrustDays: 365 }, after(180))).toBe(true);
  });

  it('counts from its last registration by mail code; in older rows, from its creation', () => {
    expect(isTrusted(slidTo(180, { registeredAt: after(100) }), policy, after(181))).toBe(true);
    expect(isTrusted(slidTo(180, { registeredAt: null }), policy, after(181))).toBe(false);
  });

  it('that is not remembered is trusted until its stored expiry only', () => {
    const short = { ...device, remembered: false, trustedUntil: after(10 / 60 / 24) };
    expect(trustEnd(short, { ...policy, deviceTrustSeconds: 60 })).toEqual(short.trustedUntil);
  });

  it('is trusted again from each use, if it is remembered', () => {
    expect(trustAfterUse({ remembered: true }, policy, after(7))).toEqual(after(37));
    expect(trustAfterUse({ remembered: false }, policy, after(7))).toBeNull();
  });

  it('skips the second factor for the time that the project allows now', () => {
    const remembered = { mfaRememberedAt: after(1) };
    const skips = (days: number, at: number) => skipsFactor(remembered, { rememberMfaSeconds: days * day }, after(at));
    expect([skips(30, 30.9), skips(30, 31), skips(7, 8)]).toEqual([true, false, false]);
    expect(skipsFactor({ mfaRememberedAt: null }, { rememberMfaSeconds: day }, after(0))).toBe(false);
  });
});
