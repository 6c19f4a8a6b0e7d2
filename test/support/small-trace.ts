/** Of a job that starts at once, one that waits, one that no fleet holds, and one behind it. */
export const smallTrace = 'id,submit,duration,gpus\na,0,100,4\nb,1,100,8\ngang,2,50,900\nd,3,10,1\n'
