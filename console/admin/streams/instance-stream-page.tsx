import { useParams } from 'react-router';
import { useAccess } from '../access.tsx';
import { StreamDetails } from './stream-details.tsx';

export function Component() {
  const { streamId = '' } = useParams();
  const { isOwner } = useAccess();
  return <StreamDetails id={streamId} project={null} mayChange={isOwner} listPath="/log-streams" />;
}
