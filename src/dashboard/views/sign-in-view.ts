import { type Html, html } from '../../html/html.js';
import { layout } from './layout.js';

/** The form that an API key is given to. @param problem why the one before was not taken */
export function signInView(base: string, { to, problem }: { to: string; problem: string | null }): Html {
  const told = problem === null ? null : html`<p class="warning" role="alert" id="problem">${problem}</p>`;
  const invalid = problem === null ? null : html` aria-invalid="true" aria-describedby="problem"`;
  return layout(
    { base, title: 'Sign in', keyLabel: null },
    html`<h1>Sign in</h1>
${told}
<form method="post" action="${base}/sign-in" class="sign-in">
<input type="hidden" name="to" value="${to}">
<p><label for="token">API key</label>
<input id="token" name="token" type="password" autocomplete="current-password" required="" autofocus="" maxlength="4000"${invalid}></p>
<p><button type="submit">Sign in</button></p>
</form>
<p class="note">You see the websites that the key may read. The key itself is not kept in your browser.</p>`,
  );
}
