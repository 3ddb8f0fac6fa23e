/**
 * Preloaded into a server under test (`node --import`): its clock is turned by a message from the test that started it.
 * Only time as a program reads it is turned: timers, and the database's own clock, run as ever.
 */
const RealDate = Date;
let aheadMilliseconds = 0;
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
// The server ends when it is told to, not when its test has let go of it.
process.channel.unref();
