import { useParams } from 'react-router';
import { useAccess } from '../access.tsx';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { StreamDetails } from './stream-details.tsx';

export function Component() {
  const { streamId = '' } = useParams();
  const project = useProject();
  const { mayChange } = useAccess(project.id);
  return (
    <StreamDetails id={streamId} project={project} mayChange={mayChange} listPath={useProjectPath()('log-streams')} />
  );
}
