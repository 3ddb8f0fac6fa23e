// oxlint-disable-next-line import/default -- Vite gives its text
import fastapi from '../../../../shared/recipes/fastapi_app.py?raw';
// oxlint-disable-next-line import/default -- Vite gives its text
import go from '../../../../shared/recipes/sign_in.go?raw';
import type { Snippet } from '../../ui/code/snippets.tsx';
import {
  clientIdOf,
  fill,
  issuerOf,
  marked,
  portOf,
  proofOf,
  redirectOf,
  redirectUriOf,
  type SnippetValues,
  signatureOf,
} from './values.ts';

/** Servers with libraries of other languages; none for a client that has a key or pushes its requests. */
export function otherLanguages(values: SnippetValues): Snippet[] {
  const { fapiProfile, pushedRequestsRequired } = values.client;
  if (proofOf(values) === 'key' || fapiProfile || pushedRequestsRequired) return [];
  return [inFastApi(values), inGo(values)];
}

const callbackOf = (values: SnippetValues) => `"${marked(values, new URL(redirectUriOf(values)).pathname)}"`;

function inFastApi(values: SnippetValues): Snippet {
  const code = fill(fastapi, {
    ...(proofOf(values) === 'none' && { '    client_secret=os.environ["CLIENT_SECRET"],\n': '' }),
    'os.environ["CLIENT_ID"]': `"${clientIdOf(values)}"`,
    'os.environ["REDIRECT_URI"]': `"${redirectOf(values)}"`,
    "f\"{os.environ['ISSUER']}": `"${issuerOf(values)}`,
    'int(os.environ["PORT"])': portOf(values),
    '"/callback"': callbackOf(values),
  });
  const variable = proofOf(values) === 'none' ? '' : 'CLIENT_SECRET=… ';
  return {
    label: 'FastAPI',
    code: `# pip install authlib fastapi httpx itsdangerous uvicorn
# Save as app.py, then: ${variable}SESSION_SECRET=… python app.py, and open /account
${code}`,
  };
}

function inGo(values: SnippetValues): Snippet {
  const isPublic = proofOf(values) === 'none';
  const code = fill(go, {
    // Go does not compile unused imports.
    ...(isPublic && { '\t"os"\n': '', ' ClientSecret: os.Getenv("CLIENT_SECRET"),': '' }),
    'os.Getenv("ISSUER")': `"${issuerOf(values)}"`,
    'os.Getenv("CLIENT_ID")': `"${clientIdOf(values)}"`,
    'os.Getenv("REDIRECT_URI")': `"${redirectOf(values)}"`,
    '":"+os.Getenv("PORT")': `":${portOf(values)}"`,
    '"RS256"': `"${signatureOf(values)}"`,
    '"/callback"': callbackOf(values),
  });
  return {
    label: 'Go',
    code: `// go mod init example && go get github.com/coreos/go-oidc/v3 golang.org/x/oauth2
// Save as main.go, then: ${isPublic ? '' : 'CLIENT_SECRET=… '}go run ., and open /login
${code}`,
  };
}
