import { useQuery } from '../api.ts';
import { UserHoldings } from '../generated/operations.ts';
import { counted } from '../ui/counted.ts';

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
        <li>the profile, and the place in {counted(held.groups, 'group')}</li>
        <li>
          {counted(held.devices, 'device')}, {counted(held.passkeys, 'passkey')},{' '}
          {counted(held.secondFactors, 'second factor')}, {counted(held.recoveryCodes, 'recovery code')}
        </li>
        <li>{counted(held.sessions, 'session')}, ended at once</li>
        <li>{counted(held.messages, 'message')} to them</li>
        {held.adminRoles > 0 && <li>{counted(held.adminRoles, 'role')} in this console</li>}
      </ul>
      <p>
        {counted(held.events, 'event')} {held.events === 1 ? 'stays' : 'stay'} in the log, without a name.
      </p>
    </>
  );
}
