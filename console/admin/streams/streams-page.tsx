import { useAccess } from '../access.tsx';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { Streams } from './streams.tsx';

export function Component() {
  const project = useProject();
  const path = useProjectPath();
  const { mayChange } = useAccess(project.id);
  return <Streams project={project} mayChange={mayChange} pathOf={(id) => path(`log-streams/${id}`)} />;
}
