/**
 * Preloaded into a server under test (`node --import`): the test moves its clock by messages. Changes only `Date`;
 * timers and the database's clock run normally.
 */
const RealDate = Date;
let aheadMilliseconds = Number(new URL(import.meta.url).searchParams.get('ahead') ?? 0) * 1000;
const now = () => RealDate.now() + aheadMilliseconds;

globalThis.Date = new Proxy(RealDate, {
  apply: () => new RealDate(now()).toString(),
  construct: (target, given) => new target(...(given.length > 0 ? given : [now()])),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});

process.on('message', ({ turnSeconds }) => {
  aheadMilliseconds += turnSeconds * 1000;
  process.send({ turnedSeconds: turnSeconds });
});
// The channel must not keep the server running.
process.channel.unref();
