import { Button } from '@mantine/core';
import { Link } from 'react-router';
import { Page } from '../ui/layout/page.tsx';
import { Events } from './events.tsx';

export function Component() {
  return (
    <Page
      title="Audit"
      lead="Events of this instance and all of its projects."
      actions={
        <Button variant="default" component={Link} to="/log-streams">
          Log streams
        </Button>
      }
    >
      <Events path="/audit" />
    </Page>
  );
}
