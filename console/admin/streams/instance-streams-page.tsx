import { useAccess } from '../access.tsx';
import { Streams } from './streams.tsx';

export function Component() {
  const { isOwner } = useAccess();
  return <Streams project={null} mayChange={isOwner} pathOf={(id) => `/log-streams/${id}`} />;
}
