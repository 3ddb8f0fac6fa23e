import { useQuery } from '../api.ts';
import { UserHoldings } from '../generated/operations.ts';

const count = new Intl.NumberFormat('en-GB');
const some = (number: number, one: string, many = `${one}s`) => `${count.format(number)} ${number === 1 ? one : many}`;

/** Counts of the data deleted with a user. */
export function Losses({ userId }: { userId: string }) {
  const { data, failure } = useQuery(UserHoldings, { userId });
  if (failure) return <p>Failed to count what will be lost: {failure.message}</p>;
  const held = data?.userHoldings;
  if (!held) return <p aria-busy="true">Counting…</p>;
  return (
    <>
      <p>You will lose:</p>
      <ul>
        <li>the profile, and the place in {some(held.groups, 'group')}</li>
        <li>
          {some(held.devices, 'device')}, {some(held.secondFactors, 'second factor')},{' '}
          {some(held.recoveryCodes, 'recovery code')}
        </li>
        <li>{some(held.sessions, 'session')}, ended at once</li>
        <li>{some(held.messages, 'message')} to them</li>
        {held.adminRoles > 0 && <li>{some(held.adminRoles, 'role')} in this console</li>}
      </ul>
      <p>{some(held.events, 'event stays', 'events stay')} in the log, without a name.</p>
    </>
  );
}
