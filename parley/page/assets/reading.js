// A page that is not made yet: asks for it again. A refresh without a script would keep a page
// whose address has a fragment.
setTimeout(() => location.reload(), 300);
