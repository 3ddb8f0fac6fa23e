import { Page } from '../ui/layout/page.tsx';
import { Events } from './events.tsx';

export function Component() {
  return (
    <Page title="Audit" lead="Everything that happened in this instance and in all of its projects.">
      <Events path="/audit" />
    </Page>
  );
}
